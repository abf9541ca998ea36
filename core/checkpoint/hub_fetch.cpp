#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "checkpoint/http.h"
#include "checkpoint/hub.h"
#include "checkpoint/hub_blob.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/lock_file.h"
#include "common/progress.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::uint64_t mebibyte = 1u << 20, max_unannounced = 1u << 30;
constexpr std::uint64_t least_gain = mebibyte;  // of a file, after which tries are counted anew

/// What the hub says of one file before it is fetched.
struct FileInfo {
    std::string etag;                   // SHA-256 of a large file, else a hash of git
    std::optional<std::uint64_t> size;  // bytes
};

bool is_hexadecimal(std::string_view text, std::size_t size) {
    return text.size() == size && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Where a file comes among those of a model: by the last ones is_complete() tells that it is whole.
int place_of(const std::string& file) { return file == "modules.json" ? 2 : fs::path(file).filename() == "config.json" ? 1 : 0; }

bool may_pass(const HttpResponse& response) {
    if (response.lasting) return false;
    return !response.network_error.empty() || response.status >= 500 || response.status == 429 || response.status == 408;
}

[[noreturn]] void throw_stopped() {
    throw Error(ExitCode::stopped, "stopped while fetching a model; what was fetched is kept, and the next attempt goes on from there");
}

/// Where a blob comes together: BLOB.incomplete, of whoever has the lock. Where the file system has no locks it has a name of this process
/// alone meanwhile, so that nobody else writes, cuts or renames it.
class Unfinished {
  public:
    Unfinished(const fs::path& blob, LockOutcome lock) : kept_(blob.string() + ".incomplete"), path_(kept_) {
        if (lock == LockOutcome::taken) return;
        char host[256] = "";
        ::gethostname(host, sizeof host - 1);
        const std::string of_host = kept_.filename().string() + "-" + host + "-";
        path_ = kept_.parent_path() / (of_host + std::to_string(::getpid()));
        take_over_left(of_host);
        move(kept_, path_);
    }
    ~Unfinished() {
        if (path_ != kept_) move(path_, kept_);  // it is there where this was interrupted
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    const fs::path& path() const { return path_; }

  private:
    /// What a process of this machine that was killed has left, where nothing is kept: it is gone on with.
    void take_over_left(const std::string& of_host) const {
        std::error_code error;
        if (fs::exists(kept_, error)) return;
        for (const auto& entry : fs::directory_iterator(kept_.parent_path(), error)) {
            const std::string name = entry.path().filename().string();
            const auto process = name.starts_with(of_host) ? parse_int(name.substr(of_host.size())) : std::nullopt;
            if (process && ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH) return move(entry.path(), kept_);
        }
    }
    static void move(const fs::path& from, const fs::path& to) {
        std::error_code missing;
        fs::rename(from, to, missing);
    }
    fs::path kept_, path_;
};

/// One model on its way into the cache.
class Fetch {
  public:
    Fetch(const HubModel& model, const HubSettings& settings) : model_(model), settings_(settings), folder_(model.folder(settings)) {}

    std::optional<fs::path> run() {
        check_endpoint();
        const std::optional<std::vector<std::string>> names = list_files();
        if (!names) return std::nullopt;
        std::vector<std::string> files = needed_files(*names);
        std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
        const bool weights =
            std::any_of(files.begin(), files.end(), [](const std::string& name) { return name.ends_with(".safetensors"); });
        if (!weights) throw_without_weights(*names);
        for (const std::string& file : files) fetch_file(file);
        // Last, so that a snapshot that a ref names is whole.
        if (std::find(names->begin(), names->end(), "modules.json") == names->end()) note_missing("modules.json");
        write_ref();
        return folder_ / "snapshots" / commit_;
    }

  private:
    /// Without its scheme the token would go over the network in clear.
    void check_endpoint() const {
        const std::string lower = lowercase_ascii(settings_.endpoint);
        if (!lower.starts_with("https://") && !lower.starts_with("http://"))
            throw settings_error("HF_ENDPOINT is {}, which begins with neither https:// nor http://; write the whole address",
                                 faceter::quoted(settings_.endpoint));
    }

    std::string full_name() const { return model_.revision == "main" ? model_.name : model_.name + "@" + model_.revision; }

    HttpRequest request(std::string url) const {
        HttpRequest request;
        request.url = std::move(url);
        request.headers = {"User-Agent: faceter/" FACETER_VERSION, "Accept-Encoding: identity"};
        if (!settings_.token.empty()) request.headers.push_back("Authorization: Bearer " + settings_.token);
        return request;
    }

    /// Again and again where the network or the server may recover.
    HttpResponse send(const HttpRequest& wanted) const {
        for (int attempt = 1;; ++attempt) {
            HttpResponse response = http_request(wanted);
            if (response.stopped) throw_stopped();
            if (!may_pass(response) || attempt >= settings_.max_attempts) return response;
            wait(attempt);
        }
    }
    void wait(int attempt) const {
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.retry_wait_ms) * (1 << std::min(attempt - 1, 5));
        while (std::chrono::steady_clock::now() < until) {
            if (stop_requested() != StopRequest::none) throw_stopped();
            std::this_thread::sleep_for(std::chrono::milliseconds(std::min(settings_.retry_wait_ms, 50)));
        }
    }

    /// Names of the repository's files; sets commit_. Nothing where there is no such model.
    std::optional<std::vector<std::string>> list_files() {
        std::string revision = model_.revision;
        for (std::size_t at = revision.find('/'); at != std::string::npos; at = revision.find('/', at)) revision.replace(at, 1, "%2F");
        HttpRequest wanted = request(settings_.endpoint + "/api/models/" + model_.name + "/revision/" + revision);
        wanted.follow_redirects = true;  // a model that was renamed
        const HttpResponse response = send(wanted);
        const std::string code = response.header("x-error-code");
        const bool refused = response.network_error.empty() && (response.status == 404 || response.status == 401);
        if (refused && code != "RevisionNotFound" && code != "GatedRepo" && !is_bad_token(response)) return std::nullopt;
        check(response, "its list of files");
        return read_list(parse_json(response.body, wanted.url));
    }

    std::vector<std::string> read_list(const Json& json) {
        const std::string source = settings_.endpoint + "'s answer about " + model_.name;
        commit_ = json_at<std::string>(json, "sha", source);
        if (!is_hexadecimal(commit_, 40)) throw data_error("{}: {} is no commit", source, faceter::quoted(commit_));
        std::vector<std::string> names;
        for (const Json& file : json_at<Json>(json, "siblings", source)) names.push_back(json_at<std::string>(file, "rfilename", source));
        return names;
    }

    static bool is_bad_token(const HttpResponse& response) {
        return response.header("x-error-message").find("Invalid credentials") != std::string::npos ||
               response.header("x-error-message").find("Invalid username or password") != std::string::npos;
    }

    /// One clear line for each way in which the hub says no.
    void check(const HttpResponse& response, std::string_view what) const {
        const std::string model = faceter::quoted(full_name()), code = response.header("x-error-code");
        if (!response.network_error.empty())
            throw failure("model {}: cannot fetch {} from {}: {}; check the network or HF_ENDPOINT, or give a folder on disk", model, what,
                          settings_.endpoint, response.network_error);
        if (response.status >= 200 && response.status < 400) return;
        if (code == "RevisionNotFound")
            throw data_error("model {}: {} has no revision {}", model, settings_.endpoint, faceter::quoted(model_.revision));
        if (is_bad_token(response))
            throw data_error("model {}: {} does not accept the token (HF_TOKEN, or the file of it); make a new one", model,
                             settings_.endpoint);
        if (code == "GatedRepo" || response.status == 401 || response.status == 403)
            throw data_error("model {} is gated: accept its terms at {}/{} and set HF_TOKEN to a token of yours", model, settings_.endpoint,
                             model_.name);
        if (response.status == 404) throw data_error("model {}: {} has no longer {}", model, settings_.endpoint, what);
        throw failure("model {}: {} answers {} for {}; try again later, or give a folder on disk", model, settings_.endpoint,
                      response.status, what);
    }

    [[noreturn]] void throw_without_weights(const std::vector<std::string>& names) const {
        const bool pickled = std::any_of(names.begin(), names.end(),
                                         [](const std::string& name) { return name.ends_with(".bin") || name.ends_with(".pt"); });
        throw data_error("model {}: {} has no safetensors weights of it{}; choose another model or revision", faceter::quoted(full_name()),
                         settings_.endpoint, pickled ? ", only pickles, and loading one runs code" : "");
    }

    std::string url_of(const std::string& file) const {
        return settings_.endpoint + "/" + model_.name + "/resolve/" + commit_ + "/" + file;
    }

    /// Asks for the headers; follows redirects within the hub (renamed models), but not to where a large file lies.
    FileInfo ask(const std::string& file) const {
        HttpRequest wanted = request(url_of(file));
        wanted.head = true;
        HttpResponse response = send(wanted);
        for (int i = 0; i < 5 && response.status / 100 == 3 && response.header("location").starts_with('/'); ++i) {
            const std::size_t host = settings_.endpoint.find("://");
            const std::size_t path = settings_.endpoint.find('/', host == std::string::npos ? 0 : host + 3);
            wanted.url = settings_.endpoint.substr(0, path) + response.header("location");
            response = send(wanted);
        }
        check(response, file);
        return read_info(response, file);
    }

    FileInfo read_info(const HttpResponse& response, const std::string& file) const {
        FileInfo info;
        std::string etag = response.header("x-linked-etag"), size = response.header("x-linked-size");
        if (etag.empty()) etag = response.header("etag");
        if (size.empty() && response.status / 100 == 2) size = response.header("content-length");
        if (etag.starts_with("W/")) etag.erase(0, 2);
        std::erase(etag, '"');
        const bool plain = !etag.empty() && etag.size() <= 128 &&
                           etag.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == etag.npos;
        if (!plain)
            throw data_error("model {}: {} gives {} no usable ETag ({})", faceter::quoted(full_name()), settings_.endpoint, file,
                             faceter::quoted(etag));
        info.etag = etag;
        if (const auto bytes = parse_int(size); bytes && *bytes >= 0) info.size = static_cast<std::uint64_t>(*bytes);
        if (!info.size && !is_hexadecimal(etag, 64) && !is_hexadecimal(etag, 40))
            throw data_error("model {}: {} gives {} neither a hash nor a length, so that nothing tells whether it came whole",
                             faceter::quoted(full_name()), settings_.endpoint, file);
        return info;
    }

    void fetch_file(const std::string& file) const {
        if (stop_requested() != StopRequest::none) throw_stopped();
        const fs::path pointer = folder_ / "snapshots" / commit_ / file;
        std::error_code error;
        if (fs::exists(pointer, error)) return;
        const FileInfo info = ask(file);
        const fs::path blob = folder_ / "blobs" / info.etag, locks = settings_.cache / ".locks" / folder_.filename();
        for (const fs::path& parent : {blob.parent_path(), pointer.parent_path(), locks}) make_directories(parent);
        LockFile lock(locks / (info.etag + ".lock"));  // huggingface_hub takes it, too
        const LockOutcome outcome = lock.wait_unless_stopped("another process that fetches the same file");
        if (!fs::exists(blob, error)) fetch_blob(file, info, blob, Unfinished(blob, outcome));
        link_to(blob, pointer);
    }

    /// Large files are named by their SHA-256, small ones as git does. A server of another kind announces no hash, but the length.
    static bool is_announced_content(const FileInfo& info, const fs::path& file) {
        if (is_hexadecimal(info.etag, 64)) return sha256_file(file) == info.etag;
        return !is_hexadecimal(info.etag, 40) || git_blob_id(read_file(file)) == info.etag;
    }

    /// Into blobs/ETAG.incomplete, which stays when this is interrupted, then to its name.
    void fetch_blob(const std::string& file, const FileInfo& info, const fs::path& blob, const Unfinished& unfinished) const {
        const fs::path& incomplete = unfinished.path();
        for (int hash_failures = 0;;) {
            {
                PartialFile partial(incomplete);
                fetch_content(file, info, partial);
                partial.sync();
            }
            if (is_announced_content(info, incomplete)) break;
            fs::remove(incomplete);
            if (++hash_failures == 2)
                throw data_error("model {}: {} came from {} with another {} than announced, twice; nothing of it was kept",
                                 faceter::quoted(full_name()), file, settings_.endpoint,
                                 is_hexadecimal(info.etag, 64) ? "SHA-256" : "hash of git");
        }
        rename_synced(incomplete, blob);
    }

    void fetch_content(const std::string& file, const FileInfo& info, PartialFile& partial) const {
        if (info.size && partial.size() > *info.size) partial.truncate(0);
        if (!info.size) partial.truncate(0);  // nothing tells whether what is there is whole
        ProgressLine progress(file, info.size.value_or(0) / mebibyte, "MiB");
        progress.start_at(partial.size() / mebibyte);
        std::uint64_t counted = partial.size();
        for (int attempt = 1; !info.size || partial.size() < *info.size || *info.size == 0; ++attempt) {
            const HttpResponse response = fetch_rest(file, info, partial, progress);
            if (response.stopped) throw_stopped();
            if (response.succeeded() && (!info.size || partial.size() == *info.size)) break;
            if (info.size && partial.size() > *info.size) partial.truncate(0);
            if (partial.size() >= counted + least_gain) attempt = 0, counted = partial.size();  // it goes on, if slowly
            if (response.status == 416) partial.truncate(0);
            if (!response.succeeded() && !may_pass(response) && response.status != 416) check(response, file);
            if (attempt >= settings_.max_attempts) throw_broken(response, file, info, partial.size());
            wait(std::max(attempt, 1));
        }
        if (info.size.value_or(0) >= mebibyte) progress.finish();
    }

    [[noreturn]] void throw_broken(const HttpResponse& response, const std::string& file, const FileInfo& info, std::uint64_t have) const {
        check(response, file);
        throw failure("model {}: {} breaks off after {} of {} bytes of {}; try again later", faceter::quoted(full_name()),
                      settings_.endpoint, have, info.size.value_or(0), file);
    }

    HttpResponse fetch_rest(const std::string& file, const FileInfo& info, PartialFile& partial, ProgressLine& progress) const {
        HttpRequest wanted = request(url_of(file));
        wanted.follow_redirects = true;
        wanted.from_byte = partial.size();
        wanted.on_body = [&](std::string_view bytes, std::uint64_t from_byte) {
            if (from_byte > partial.size())
                throw failure("{} sends {} from byte {}, which was not asked for", settings_.endpoint, file, from_byte);
            if (bytes.size() > info.size.value_or(max_unannounced) - std::min(from_byte, info.size.value_or(max_unannounced)))
                throw failure("{} sends more of {} than the {} bytes that {}", settings_.endpoint, file,
                              info.size.value_or(max_unannounced), info.size ? "it announced" : "a file of unknown length may have");
            if (from_byte < partial.size()) partial.truncate(from_byte);  // the server sends all of it again
            partial.write_at(from_byte, bytes);
            progress.update((from_byte + bytes.size()) / mebibyte);
        };
        return http_request(wanted);
    }

    void note_missing(const std::string& file) const {
        make_directories(folder_ / ".no_exist" / commit_);
        write_file_atomic(folder_ / ".no_exist" / commit_ / file, "");
    }
    void write_ref() const {
        if (model_.revision == commit_) return;
        const fs::path ref = folder_ / "refs" / model_.revision;
        make_directories(ref.parent_path());
        write_file_atomic(ref, commit_);
    }

    const HubModel& model_;
    const HubSettings& settings_;
    fs::path folder_;
    std::string commit_;
};

}  // namespace

std::optional<std::filesystem::path> fetch_model(const HubModel& model, const HubSettings& settings) {
    return Fetch(model, settings).run();
}

}  // namespace faceter
