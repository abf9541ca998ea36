# ctest: it keeps the laws that all methods keep (resume, several processes, export ...).
add_test(NAME laws COMMAND ${FACETER_PROGRAM} conform --plugin-dir ${built} --model ${START_MODEL})
