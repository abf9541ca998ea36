# Called by cpack with what it has installed, before the packages are made: run paths without this machine's folders, and what belongs
# under /usr/bin and /usr/share.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
# cpack sets it while it installs; what is staged here has its whole path.
set(destination "$ENV{DESTDIR}")
unset(ENV{DESTDIR})
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code ERROR_VARIABLE errors)
  if(code)
    message(FATAL_ERROR "${ARGV}: ${errors}")
  endif()
endfunction()

function(set_run_path pattern path)
  file(GLOB files ${root}/*/usr/lib/faceter/${pattern})
  foreach(file ${files})
    run(patchelf --set-rpath ${path} ${file})
  endforeach()
endfunction()
set_run_path(bin/* "$ORIGIN/../lib")
set_run_path(lib/*.so "$ORIGIN")
set_run_path(lib/faceter/*.so "$ORIGIN/..")
set_run_path(lib/faceter/plugins/*.so "$ORIGIN/../..")

function(command component name)
  file(MAKE_DIRECTORY ${root}/${component}/usr/bin)
  file(CREATE_LINK ../lib/faceter/launch ${root}/${component}/usr/bin/${name} SYMBOLIC)
endfunction()
command(faceter faceter)
command(worker faceter-worker)
command(desktop faceter-desktop)
file(INSTALL ${source}/packaging/bundle_launcher.sh DESTINATION ${root}/faceter/usr/lib/faceter RENAME launch
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Debian's own changelog has one entry a package version; the release's date is that of the AppStream data.
file(READ ${source}/resources/desktop/io.faceter.Faceter.metainfo.xml metainfo)
string(REGEX MATCH "<release version=\"([0-9.]+)\" date=\"([0-9-]+)\"" found "${metainfo}")
set(version ${CMAKE_MATCH_1})
execute_process(COMMAND date -u -R -d ${CMAKE_MATCH_2} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian "faceter (${version}-1) unstable; urgency=medium

  * Version ${version}; what is new stands in changelog.gz.

 -- Faceter developers <faceter@localhost>  ${date}
")

foreach(component faceter worker desktop dev)
  string(REPLACE "faceter-faceter" "faceter" package faceter-${component})
  set(docs ${root}/${component}/usr/share/doc/${package})
  file(INSTALL ${source}/packaging/debian/copyright DESTINATION ${docs})
  run(sh -c "gzip -9nc '${source}/CHANGELOG.md' > '${docs}/changelog.gz'")
  run(sh -c "gzip -9nc '${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian' > '${docs}/changelog.Debian.gz'")
  if(EXISTS ${source}/packaging/debian/${package}.lintian-overrides)
    file(INSTALL ${source}/packaging/debian/${package}.lintian-overrides DESTINATION ${root}/${component}/usr/share/lintian/overrides RENAME ${package})
  endif()
endforeach()

# The manual where Debian's readers look for it; `faceter manual` follows the link.
set(html usr/share/doc/faceter/html)
file(RENAME ${root}/faceter/usr/lib/faceter/share/doc/faceter/html ${root}/faceter/${html})
file(CREATE_LINK ../../../../../share/doc/faceter/html ${root}/faceter/usr/lib/faceter/share/doc/faceter/html SYMBOLIC)

# The manual pages and completions that `faceter reference` writes.
set(share ${root}/faceter/usr/share)
set(program $ENV{FACETER_PACKAGED_BUILD}/bin/faceter)
run(${program} reference man --output ${share}/man/man1)
run(sh -c "gzip -9n '${share}'/man/man1/*.1")
file(MAKE_DIRECTORY ${share}/bash-completion/completions ${share}/zsh/vendor-completions ${share}/fish/vendor_completions.d)
foreach(name faceter-worker faceter-desktop)
  string(REPLACE faceter- "" component ${name})
  file(MAKE_DIRECTORY ${root}/${component}/usr/share/man/man1)
  run(sh -c "gzip -9nc '${source}/packaging/debian/${name}.1' > '${root}/${component}/usr/share/man/man1/${name}.1.gz'")
endforeach()
run(${program} reference bash --output ${share}/bash-completion/completions/faceter)
run(${program} reference zsh --output ${share}/zsh/vendor-completions/_faceter)
run(${program} reference fish --output ${share}/fish/vendor_completions.d/faceter.fish)

set(share ${root}/desktop/usr/share)
file(INSTALL ${source}/resources/desktop/io.faceter.Faceter.desktop DESTINATION ${share}/applications)
file(INSTALL ${source}/resources/desktop/io.faceter.Faceter.metainfo.xml DESTINATION ${share}/metainfo)
file(INSTALL ${source}/resources/desktop/io.faceter.Faceter.xml DESTINATION ${share}/mime/packages)
file(INSTALL ${source}/resources/desktop/io.faceter.Faceter.svg DESTINATION ${share}/icons/hicolor/scalable/apps)
run(sh -c "find '${root}' -type d -exec chmod 755 {} +")
set(ENV{DESTDIR} "${destination}")
