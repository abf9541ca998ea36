#include "common/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <set>

#include "common/cancel.h"
#include "common/error.h"
#include "common/inner_path.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// The functions of libarchive that are used, looked up at run time: few commands need them.
struct Library {
    decltype(&::archive_write_new) write_new;
    decltype(&::archive_write_add_filter_gzip) write_gzip;
    decltype(&::archive_write_set_options) write_options;
    decltype(&::archive_write_set_format_pax_restricted) write_pax;
    decltype(&::archive_write_open) write_open;
    decltype(&::archive_write_header) write_header;
    decltype(&::archive_write_data) write_data;
    decltype(&::archive_write_close) write_close;
    decltype(&::archive_write_free) write_free;
    decltype(&::archive_read_new) read_new;
    decltype(&::archive_read_support_filter_gzip) read_gzip;
    decltype(&::archive_read_support_format_tar) read_tar;
    decltype(&::archive_read_open_filename) read_open;
    decltype(&::archive_read_next_header) read_header;
    decltype(&::archive_read_data) read_data;
    decltype(&::archive_read_free) read_free;
    decltype(&::archive_error_string) error;
    decltype(&::archive_entry_new) entry_new;
    decltype(&::archive_entry_free) entry_free;
    decltype(&::archive_entry_set_pathname) set_pathname;
    decltype(&::archive_entry_set_size) set_size;
    decltype(&::archive_entry_set_filetype) set_filetype;
    decltype(&::archive_entry_set_perm) set_perm;
    decltype(&::archive_entry_pathname) pathname;
    decltype(&::archive_entry_size) size;
    decltype(&::archive_entry_filetype) filetype;
    decltype(&::archive_entry_hardlink) hardlink;

    static const Library& get() {
        static const Library library = open();
        return library;
    }

  private:
    static Library open() {
        void* handle = ::dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
        const auto find = [&]<typename Function>(Function& function, const char* name) {
            function = handle ? reinterpret_cast<Function>(::dlsym(handle, name)) : nullptr;
            if (!function) throw failure("archives cannot be read or written, for libarchive is not installed; install it (libarchive13)");
        };
        Library l{};
        find(l.write_new, "archive_write_new");
        find(l.write_gzip, "archive_write_add_filter_gzip");
        find(l.write_options, "archive_write_set_options");
        find(l.write_pax, "archive_write_set_format_pax_restricted");
        find(l.write_open, "archive_write_open");
        find(l.write_header, "archive_write_header");
        find(l.write_data, "archive_write_data");
        find(l.write_close, "archive_write_close");
        find(l.write_free, "archive_write_free");
        find(l.read_new, "archive_read_new");
        find(l.read_gzip, "archive_read_support_filter_gzip");
        find(l.read_tar, "archive_read_support_format_tar");
        find(l.read_open, "archive_read_open_filename");
        find(l.read_header, "archive_read_next_header");
        find(l.read_data, "archive_read_data");
        find(l.read_free, "archive_read_free");
        find(l.error, "archive_error_string");
        find(l.entry_new, "archive_entry_new");
        find(l.entry_free, "archive_entry_free");
        find(l.set_pathname, "archive_entry_set_pathname");
        find(l.set_size, "archive_entry_set_size");
        find(l.set_filetype, "archive_entry_set_filetype");
        find(l.set_perm, "archive_entry_set_perm");
        find(l.pathname, "archive_entry_pathname");
        find(l.size, "archive_entry_size");
        find(l.filetype, "archive_entry_filetype");
        find(l.hardlink, "archive_entry_hardlink");
        return l;
    }
};

std::string reason(archive* of) {
    const char* said = Library::get().error(of);
    return said ? said : "libarchive does not say why";
}

constexpr std::ptrdiff_t deepest = 32;  // folders in each other

/// Unpacks entry by entry, and trusts none.
class Extraction {
  public:
    Extraction(const fs::path& file, const fs::path& folder, const ArchiveLimits& limits)
        : file_(file),
          folder_(folder),
          limits_(limits),
          most_(std::min(limits.bytes, limits.free_bytes + fs::file_size(file) * limits.growth)),
          most_files_(std::min<std::uint64_t>(limits.files, limits.free_files + fs::file_size(file) / limits.bytes_each)) {}
    ~Extraction() { close(); }
    Extraction(const Extraction&) = delete;
    Extraction& operator=(const Extraction&) = delete;

    /// Twice, and checked as strictly again, since the file may be another by then: what is refused costs no disk anything.
    std::size_t run() {
        for (const bool unpack : {false, true}) pass(unpack);
        return names_.size();
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const { throw data_error("{}: {}; nothing was taken from it", file_.string(), what); }

    void check(int code) const {
        if (code < ARCHIVE_WARN) refuse("is no .tar.gz, or is torn: " + reason(archive_));
    }

    bool next(archive_entry*& entry) const {
        const int code = library_.read_header(archive_, &entry);
        if (code == ARCHIVE_EOF) return false;
        check(code);
        return true;
    }

    void pass(bool unpack) {
        close();
        archive_ = library_.read_new();
        library_.read_gzip(archive_);
        library_.read_tar(archive_);
        names_.clear();
        folders_.clear();
        entries_ = bytes_ = 0;
        check(library_.read_open(archive_, file_.c_str(), 1 << 16));
        for (archive_entry* entry = nullptr; next(entry);) take(entry, unpack);
        if (names_.empty()) refuse("holds no file");
    }

    void close() {
        if (archive_) library_.read_free(archive_);
        archive_ = nullptr;
    }

    void take(archive_entry* entry, bool unpack) {
        const char* stored = library_.pathname(entry);
        std::string name = stored ? stored : "";
        const auto type = library_.filetype(entry);
        while (name.starts_with("./")) name.erase(0, 2);  // as 'tar czf FILE .' writes them
        if (type == AE_IFDIR && (name.empty() || name == ".")) return check_number(++entries_);
        if (type == AE_IFDIR && name.ends_with('/')) name.pop_back();
        if (name.empty()) refuse("holds a file without a name that can be read: it is damaged, fetch it again");
        if (!is_valid_utf8(name)) refuse(fmt::format("names {}, which is not UTF-8", faceter::quoted(name)));
        if (!is_inner_path(name)) refuse(fmt::format("names {}, which leaves the folder", faceter::quoted(name)));
        if (library_.hardlink(entry) || (type != AE_IFREG && type != AE_IFDIR))
            refuse(fmt::format("{} is a link or a device, and only plain files are taken", faceter::quoted(name)));
        const fs::path path(name);
        check_length(path, name);
        check_number(++entries_);  // of the same folder as well, however often it stands there
        count_folders(type == AE_IFDIR ? path : path.parent_path(), name);
        if (type == AE_IFDIR) return;
        if (!names_.insert(name).second) refuse(fmt::format("has {} twice", faceter::quoted(name)));
        check_no_folder(name, folders_.contains(name));
        check_number(names_.size() + folders_.size());
        if (!unpack) return count_bytes(static_cast<std::uint64_t>(std::max<la_int64_t>(0, library_.size(entry))));
        make_directories((folder_ / path).parent_path());
        write(folder_ / path);
    }

    /// What no disk can hold is the archive's fault.
    void check_length(const fs::path& inner, const std::string& name) const {
        for (const fs::path& part : inner)
            if (part.native().size() > NAME_MAX)
                refuse(fmt::format("names {}, and a file's name has at most {} bytes", faceter::quoted(name), NAME_MAX));
        if ((folder_ / inner).native().size() >= PATH_MAX)
            refuse(fmt::format("names {}, and a path has at most {} bytes", faceter::quoted(name), PATH_MAX - 1));
    }

    /// Before they are made: an archive of a few bytes a folder would else fill a disk with them, and take minutes to.
    void count_folders(const fs::path& inner, const std::string& name) {
        if (std::distance(inner.begin(), inner.end()) > deepest)
            refuse(fmt::format("names {}, deeper than {} folders", faceter::quoted(name), deepest));
        fs::path each;
        for (const fs::path& part : inner) {
            const std::string folder = (each /= part).string();
            check_no_folder(folder, names_.contains(folder));
            folders_.insert(folder);
        }
        check_number(names_.size() + folders_.size());
    }

    void check_no_folder(const std::string& name, bool is_both) const {
        if (is_both) refuse(fmt::format("has {} as a file and as a folder", faceter::quoted(name)));
    }

    void check_number(std::size_t number) const {
        if (number <= most_files_) return;
        refuse(fmt::format("has more than {} files and folders{}", most_files_,
                           most_files_ < limits_.files ? ", far more than its size lets one expect" : ""));
    }

    void count_bytes(std::uint64_t more) {
        bytes_ += std::min(more, most_ + 1);
        if (bytes_ > most_) refuse(fmt::format("unpacks to more than {}, far beyond what its size lets one expect", format_bytes(most_)));
    }

    void write(const fs::path& to) {
        OutputFile out(to, OutputFile::Mode::exclusive);
        std::string piece(1 << 16, '\0');
        for (;;) {
            const la_ssize_t size = library_.read_data(archive_, piece.data(), piece.size());
            if (size < 0) refuse("is torn: " + reason(archive_));
            if (size == 0) return out.close();
            count_bytes(static_cast<std::uint64_t>(size));
            out.write(piece.data(), static_cast<std::size_t>(size));
        }
    }

    const Library& library_ = Library::get();
    fs::path file_, folder_;
    ArchiveLimits limits_;
    std::uint64_t most_, most_files_, bytes_ = 0;
    std::size_t entries_ = 0;
    archive* archive_ = nullptr;
    std::set<std::string> names_, folders_;
};

}  // namespace

/// Where the library's callback writes; an error waits here until the library has returned.
struct ArchiveWriter::Sink {
    OutputFile& file;
    std::exception_ptr error{};

    static la_ssize_t write(archive*, void* sink, const void* bytes, std::size_t size) {
        auto& self = *static_cast<Sink*>(sink);
        try {
            self.file.write(bytes, size);
            return static_cast<la_ssize_t>(size);
        } catch (...) {
            self.error = std::current_exception();
            return -1;
        }
    }
};

void ArchiveWriter::fail(const std::string& what) const {
    if (sink_->error) std::rethrow_exception(sink_->error);
    throw failure("{}: cannot be written: {}", what, reason(archive_));
}

ArchiveWriter::ArchiveWriter(const fs::path& file) : file_(file), sink_(new Sink{file_.file()}) {
    const Library& library = Library::get();
    archive_ = library.write_new();
    library.write_gzip(archive_);
    library.write_pax(archive_);
    library.write_options(archive_, "gzip:!timestamp");
    if (library.write_open(archive_, sink_.get(), nullptr, Sink::write, nullptr) != ARCHIVE_OK) fail(file.string());
}

ArchiveWriter::~ArchiveWriter() { Library::get().write_free(archive_); }

void ArchiveWriter::add(const std::string& name, std::string_view content) {
    if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped; nothing of the archive was left");
    const Library& library = Library::get();
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(library.entry_new(), library.entry_free);
    library.set_pathname(entry.get(), name.c_str());
    library.set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    library.set_filetype(entry.get(), AE_IFREG);
    library.set_perm(entry.get(), 0644);
    if (library.write_header(archive_, entry.get()) != ARCHIVE_OK ||
        library.write_data(archive_, content.data(), content.size()) != static_cast<la_ssize_t>(content.size()))
        fail(name);
}

void ArchiveWriter::finish() {
    if (Library::get().write_close(archive_) != ARCHIVE_OK) fail("the archive");
    file_.commit();
}

std::size_t extract_archive(const fs::path& file, const fs::path& folder, const ArchiveLimits& limits) {
    return Extraction(file, folder, limits).run();
}

}  // namespace faceter
