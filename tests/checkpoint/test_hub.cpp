#include <sys/wait.h>

#include <algorithm>

#include "checkpoint/http.h"
#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/cancel.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "hub_server.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

/// A hub with one model, in the hub's paths: small files by a hash of git, large ones behind a redirect to another path, with ranges.
class SmallHub {
  public:
    SmallHub() {
        files = {{"config.json", R"({"model_type": "bert", "hidden_size": 4})"},
                 {"tokenizer.json", "{}"},
                 {"README.md", "---\nlicense: cc-by-nc-4.0\n---\n"},
                 {"onnx/README.md", "not needed"},
                 {"pytorch_model.bin", "a pickle"},
                 {"onnx/model.onnx", "not needed"},
                 {"modules.json", R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
                                      {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])"},
                 {"1_Pooling/config.json", R"({"pooling_mode_cls_token": true})"},
                 {"model.safetensors", weights()}};
    }
    static std::string weights() {
        std::string bytes;
        for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7 + i / 251);
        return bytes;
    }
    bool is_large(const std::string& file) const { return file.ends_with(".safetensors"); }
    std::string etag(const std::string& file) const {
        return is_large(file) ? announced_hash.value_or(sha256_hex(files.at(file))) : small_hash.value_or(git_blob_id(files.at(file)));
    }

    ServerAnswer operator()(const ServerRequest& request) {
        const std::lock_guard lock(mutex);
        if (answer_first && !answer_first->empty()) {
            const ServerAnswer answer = answer_first->back();
            answer_first->pop_back();
            return answer;
        }
        if (!failing.empty() && request.path.ends_with(commit + "/" + failing)) return {500, {}, ""};
        if (gated && request.headers.count("authorization") == 0) return {401, {"X-Error-Code: GatedRepo"}, "gated"};
        if (request.path.starts_with("/api/models/")) return list(request.path.substr(12));
        if (request.path.starts_with("/large/")) return large(request);
        const std::string prefix = "/org/name/resolve/" + commit + "/";
        if (!request.path.starts_with(prefix)) return {404, {"X-Error-Code: RepoNotFound"}, ""};
        const std::string file = request.path.substr(prefix.size());
        if (!files.count(file)) return {404, {"X-Error-Code: EntryNotFound"}, ""};
        const std::string tag = "\"" + etag(file) + "\"";
        if (!is_large(file)) return {200, {"ETag: " + tag, "X-Repo-Commit: " + commit}, files.at(file)};
        return {302,
                {"Location: " + url + "/large/" + file, "X-Linked-Etag: " + tag, "X-Linked-Size: " + std::to_string(files.at(file).size()),
                 "ETag: \"other\"", "X-Repo-Commit: " + commit},
                ""};
    }

    std::string url;
    std::map<std::string, std::string> files;
    bool gated = false, ranges = true;
    std::string failing;  // the file that is not to be had
    std::optional<std::string> announced_hash, small_hash;
    std::string more;                           // sent behind the end of weights
    std::size_t cut_after = std::string::npos;  // every answer with weights breaks off after so many bytes
    std::optional<std::vector<ServerAnswer>> answer_first;
    std::function<void()> on_large;  // called before weights are sent
    std::mutex mutex;

  private:
    ServerAnswer list(const std::string& path) const {
        if (!path.starts_with("org/name/revision/")) return {404, {"X-Error-Code: RepoNotFound"}, ""};
        const std::string revision = path.substr(18);
        if (revision != "main" && revision != "v1" && revision != "refs%2Fpr%2F1" && revision != commit)
            return {404, {"X-Error-Code: RevisionNotFound"}, ""};
        Json json = {{"sha", commit}, {"siblings", Json::array()}};
        for (const auto& [name, content] : files) json["siblings"].push_back({{"rfilename", name}});
        json["siblings"].push_back({{"rfilename", "../../escape.safetensors"}});
        return {200, {}, json.dump()};
    }
    ServerAnswer large(const ServerRequest& request) const {
        if (on_large) on_large();
        const std::string content = files.at(request.path.substr(7)) + more;
        const auto range = request.headers.find("range");
        if (range == request.headers.end() || !ranges) return {200, {}, content, cut_after};
        std::size_t from = 0;
        std::from_chars(range->second.data() + 6, range->second.data() + range->second.size(), from);
        if (from >= content.size()) return {416, {}, ""};
        return {206,
                {"Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(content.size() - 1) + "/" +
                 std::to_string(content.size())},
                content.substr(from),
                cut_after};
    }
};

}  // namespace

class TestHub : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<TemporaryDirectory> folder_;
    std::unique_ptr<SmallHub> hub_;
    std::unique_ptr<HttpServer> server_;
    HubSettings settings_;

    std::optional<fs::path> fetch(const std::string& name = "org/name") const { return fetch_model(*HubModel::parse(name), settings_); }
    fs::path model_folder() const { return folder_->path() / "hub/models--org--name"; }
    fs::path weights_blob() const { return model_folder() / "blobs" / sha256_hex(SmallHub::weights()); }
    fs::path incomplete() const { return weights_blob().string() + ".incomplete"; }
    std::size_t count(const std::string& part, const std::string& method = "GET") const {
        const auto requests = server_->requests();
        return std::size_t(std::count_if(requests.begin(), requests.end(), [&](const ServerRequest& request) {
            return request.method == method && request.path.find(part) != std::string::npos;
        }));
    }
    void check_whole(const fs::path& snapshot) const {
        QCOMPARE(snapshot, model_folder() / "snapshots" / commit);
        QCOMPARE(read_file(snapshot / "model.safetensors"), SmallHub::weights());
        QVERIFY(fs::is_symlink(snapshot / "model.safetensors"));
        QCOMPARE(fs::read_symlink(snapshot / "model.safetensors"), fs::path("../../blobs") / sha256_hex(SmallHub::weights()));
        QCOMPARE(fs::read_symlink(snapshot / "1_Pooling/config.json"), fs::path("../../../blobs") / hub_->etag("1_Pooling/config.json"));
        QVERIFY(!fs::exists(incomplete()));
        QVERIFY(is_complete(snapshot));
    }

  private Q_SLOTS:
    void init() {
        folder_ = std::make_unique<TemporaryDirectory>();
        hub_ = std::make_unique<SmallHub>();
        server_ = std::make_unique<HttpServer>([hub = hub_.get()](const ServerRequest& request) { return (*hub)(request); });
        hub_->url = server_->url();
        settings_ = {};
        settings_.endpoint = server_->url();
        settings_.cache = folder_->path() / "hub";
        settings_.retry_wait_ms = 1;
        qputenv("HF_ENDPOINT", server_->url().c_str());
        qputenv("HF_HUB_CACHE", settings_.cache.c_str());
        qputenv("HF_HOME", (folder_->path() / "home").c_str());
        for (const char* name : {"HF_TOKEN", "HF_HUB_OFFLINE", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN"}) qunsetenv(name);
    }
    void cleanup() {
        clear_stop_request();
        set_file_fault_hook(nullptr);
        server_.reset();
        for (const char* name : {"HF_ENDPOINT", "HF_HUB_CACHE", "HF_HOME", "HF_TOKEN", "HF_HUB_OFFLINE", "HF_TOKEN_PATH", "SSL_CERT_FILE"})
            qunsetenv(name);
    }

    void a_model_is_fetched_into_the_layout_of_the_hubs_own_library() {
        const auto snapshot = fetch();
        QVERIFY(snapshot);
        check_whole(*snapshot);
        QCOMPARE(read_file(model_folder() / "refs/main"), commit);
        for (const char* name : {"pytorch_model.bin", "onnx"}) QVERIFY(!fs::exists(*snapshot / name));
        QCOMPARE(read_file(*snapshot / "README.md"), hub_->files.at("README.md"));
        QVERIFY(!fs::exists(folder_->path() / "escape.safetensors"));
        QVERIFY(ModelFolder::open(*snapshot).pooling == Pooling::cls);
    }
    void adapters_of_tasks_are_fetched_from_folders_of_any_name() {
        hub_->files["retrieval_query/adapter_config.json"] = "{}";
        hub_->files["retrieval_query/adapter_model.safetensors"] = "weights of an adapter";
        hub_->files["retrieval_query/notes.json"] = "not needed";
        const auto snapshot = fetch();
        QVERIFY(snapshot);
        check_whole(*snapshot);
        QCOMPARE(read_file(*snapshot / "retrieval_query/adapter_config.json"), std::string("{}"));
        QCOMPARE(read_file(*snapshot / "retrieval_query/adapter_model.safetensors"), std::string("weights of an adapter"));
        QVERIFY(!fs::exists(*snapshot / "retrieval_query/notes.json"));
    }
    void a_name_resolves_through_the_hub_once_and_then_without_it() {
        check_whole(resolve_model("org/name"));
        server_->forget_requests();
        check_whole(resolve_model("org/name"));
        QVERIFY(server_->requests().empty());
        qputenv("HF_HUB_OFFLINE", "1");
        check_whole(resolve_model("org/name"));
    }
    void what_another_tool_fetched_in_part_is_completed() {
        make_directories(model_folder() / "snapshots" / commit);
        make_directories(model_folder() / "refs");
        write_file_atomic(model_folder() / "refs/main", commit);
        write_file_atomic(model_folder() / "snapshots" / commit / "config.json", hub_->files["config.json"]);
        check_whole(resolve_model("org/name"));
        QCOMPARE(count("config.json", "HEAD"), std::size_t{1});  // that of the pooling alone
    }
    void a_model_without_modules_is_noted_so_that_it_is_not_asked_for_again() {
        hub_->files.erase("modules.json");
        hub_->files.erase("1_Pooling/config.json");
        const fs::path snapshot = resolve_model("org/name");
        QVERIFY(fs::exists(model_folder() / ".no_exist" / commit / "modules.json"));
        server_->forget_requests();
        QCOMPARE(resolve_model("org/name"), snapshot);
        QVERIFY(server_->requests().empty());
    }
    void a_revision_may_be_a_branch_a_tag_or_a_commit() {
        QVERIFY(fetch("org/name@v1") && fetch("org/name@refs/pr/1") && fetch("org/name@" + commit));
        QCOMPARE(read_file(model_folder() / "refs/v1"), commit);
        QCOMPARE(read_file(model_folder() / "refs/refs/pr/1"), commit);
        QVERIFY(!fs::exists(model_folder() / "refs" / commit));
        QCOMPARE(count("/large/"), std::size_t{1});
        check_whole(resolve_model("org/name@" + commit));
        EXPECT_ERROR(fetch("org/name@none"), "'org/name@none'", "no revision 'none'");
        for (const char* bad : {"org/name@", "org/name@../x", "org/name@.x", "../name", "org/..", "a/b/c", "org", "org/na me"})
            QVERIFY2(!HubModel::parse(bad), bad);
    }
    void a_pinned_revision_is_not_taken_for_the_main_one() {
        check_whole(resolve_model("org/name@v1"));
        QVERIFY(!fs::exists(model_folder() / "refs/main"));
        server_->forget_requests();
        check_whole(resolve_model("org/name"));
        QCOMPARE(count("/revision/main"), std::size_t{1});
        QCOMPARE(read_file(model_folder() / "refs/main"), commit);
    }
    void what_the_cache_has_without_a_ref_is_taken_where_the_hub_cannot_be_asked() {
        const fs::path snapshot = *fetch();
        fs::remove(model_folder() / "refs/main");
        hub_->answer_first = std::vector<ServerAnswer>{{403, {}, ""}};
        QCOMPARE(resolve_model("org/name"), snapshot);
        QCOMPARE(count("/revision/main"), std::size_t{2});
    }
    void a_fetch_that_broke_off_at_any_file_leaves_no_model_that_counts_as_whole() {
        hub_->files["tokenizer_config.json"] = hub_->files["config_sentence_transformers.json"] = hub_->files["vocab.txt"] = "{}";
        std::vector<std::string> names;
        for (const auto& [name, content] : hub_->files) names.push_back(name);
        for (const std::string& name : needed_files(names)) {
            hub_->failing = name;
            EXPECT_ERROR(fetch(), name.c_str());
            QVERIFY2(!is_complete(model_folder() / "snapshots" / commit), name.c_str());
            fs::remove_all(model_folder());
        }
        hub_->failing.clear();
        check_whole(*fetch());
    }
    void without_locks_another_process_that_is_done_disturbs_nobody() {
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::lock ? ENOLCK : 0; });
        hub_->on_large = [this] { fs::remove(incomplete()); };  // as renaming it does
        check_whole(*fetch());
    }
    void without_locks_an_attempt_that_broke_off_is_gone_on_with() {
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::lock ? ENOLCK : 0; });
        make_directories(model_folder() / "blobs");
        write_file_atomic(incomplete(), SmallHub::weights().substr(0, 123'456));
        hub_->cut_after = 0;
        EXPECT_ERROR(fetch(), "'org/name'", "model.safetensors");
        QCOMPARE(fs::file_size(incomplete()), std::uintmax_t{123'456});
        hub_->cut_after = std::string::npos;
        server_->forget_requests();
        check_whole(*fetch());
        for (const ServerRequest& request : server_->requests())
            if (request.path.starts_with("/large/")) QCOMPARE(request.headers.at("range"), std::string("bytes=123456-"));
    }
    void certificates_that_cannot_be_read_are_named_by_their_variable() {
        const std::string path = (folder_->path() / "none.pem").string();
        qputenv("SSL_CERT_FILE", path.c_str());
        settings_.endpoint = "https" + settings_.endpoint.substr(std::string("http").size());
        EXPECT_ERROR(fetch(), "SSL_CERT_FILE", path.c_str());
    }
    void a_token_file_that_cannot_be_read_stops_no_model() {
        make_directories(folder_->path() / "home");
        write_file_atomic(folder_->path() / "home/token", std::string(1 << 17, 'x'));
        QCOMPARE(HubSettings::from_environment().token, std::string());
        check_whole(resolve_model("org/name"));
    }
    void folders_in_the_environment_may_begin_with_the_home_folder_and_hold_variables() {
        const QByteArray home = qgetenv("HOME");
        qputenv("HOME", folder_->path().c_str());
        qputenv("FACETER_TEST_PART", "disk");
        qputenv("HF_HUB_CACHE", "~/$FACETER_TEST_PART/${FACETER_TEST_PART}s/$FACETER_TEST_NONE");
        qputenv("HF_TOKEN_PATH", "~/token");
        write_file_atomic(folder_->path() / "token", "hf_own");
        const HubSettings settings = HubSettings::from_environment();
        qputenv("HOME", home);
        qunsetenv("FACETER_TEST_PART");
        QCOMPARE(settings.cache, folder_->path() / "disk/disks/$FACETER_TEST_NONE");
        QCOMPARE(settings.token, std::string("hf_own"));
    }
    void a_broken_connection_goes_on_where_it_broke_off() {
        hub_->cut_after = 100'000;
        const auto snapshot = fetch();
        check_whole(*snapshot);
        QCOMPARE(count("/large/"), std::size_t{3});
        std::vector<std::string> ranges;
        for (const ServerRequest& request : server_->requests())
            if (const auto range = request.headers.find("range"); range != request.headers.end()) ranges.push_back(range->second);
        QVERIFY(std::find(ranges.begin(), ranges.end(), "bytes=100000-") != ranges.end());
    }
    void an_earlier_attempt_is_gone_on_with() {
        make_directories(model_folder() / "blobs");
        write_file_atomic(incomplete(), SmallHub::weights().substr(0, 123'456));
        check_whole(*fetch());
        const auto requests = server_->requests();
        const auto large =
            std::find_if(requests.begin(), requests.end(), [](const auto& request) { return request.path.starts_with("/large/"); });
        QCOMPARE(large->headers.at("range"), std::string("bytes=123456-"));
    }
    void a_full_disk_is_said_and_the_next_attempt_goes_on() {
        for (const FileOperation failing : {FileOperation::open, FileOperation::write, FileOperation::sync}) {
            set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
                return operation == failing && path.extension() == ".incomplete" ? ENOSPC : 0;
            });
            EXPECT_ERROR(fetch(), ".incomplete", "free some space");
            set_file_fault_hook(nullptr);
        }
        check_whole(*fetch());
    }
    void a_server_without_ranges_sends_all_again() {
        hub_->ranges = false;
        make_directories(model_folder() / "blobs");
        write_file_atomic(incomplete(), "something else");
        check_whole(*fetch());
    }
    void an_earlier_attempt_with_other_content_is_found_out_and_fetched_afresh() {
        make_directories(model_folder() / "blobs");
        write_file_atomic(incomplete(), std::string(200'000, 'x'));
        check_whole(*fetch());
    }
    void a_wrong_hash_leaves_nothing_behind() {
        hub_->announced_hash = std::string(64, 'a');
        EXPECT_ERROR(fetch(), "'org/name'", "model.safetensors", "SHA-256", "twice");
        QVERIFY(!fs::exists(model_folder() / "snapshots" / commit / "model.safetensors"));
        QVERIFY(!fs::exists(model_folder() / "blobs" / std::string(64, 'a')) && !fs::exists(model_folder() / "refs/main"));
    }
    void a_small_file_with_another_hash_leaves_nothing_behind() {
        hub_->small_hash = std::string(40, 'b');
        EXPECT_ERROR(fetch(), "'org/name'", "hash of git", "twice");
        QVERIFY(!fs::exists(model_folder() / "blobs" / std::string(40, 'b')) && !fs::exists(model_folder() / "refs/main"));
    }
    void bytes_beyond_the_announced_length_are_not_written() {
        hub_->more = std::string(10'000'000, 'x');
        EXPECT_ERROR(fetch(), "sends more of model.safetensors than the 300000 bytes that it announced");
        QVERIFY(fs::file_size(incomplete()) <= SmallHub::weights().size());
    }
    void an_answer_without_end_is_refused_and_not_asked_for_again() {
        hub_->answer_first = std::vector<ServerAnswer>(3, ServerAnswer{200, {}, std::string(std::size_t{17} << 20, ' ')});
        EXPECT_ERROR(fetch(), "/api/models/org/name/revision/main answers with more than 16 MiB");
        QCOMPARE(count("/api/"), std::size_t{1});
    }
    void an_endpoint_without_its_scheme_is_refused_before_anything_is_sent() {
        settings_.token = "hf_secret";
        settings_.endpoint = settings_.endpoint.substr(std::string("http://").size());
        EXPECT_ERROR(fetch(), "HF_ENDPOINT is '127.0.0.1", "https://");
        settings_.endpoint = "file:///etc";
        EXPECT_ERROR(fetch(), "HF_ENDPOINT is 'file:///etc'");
        QVERIFY(server_->requests().empty());
    }
    void https_redirects_to_https_only() {
        QCOMPARE(redirect_protocols("https://huggingface.co/x"), "https");
        QCOMPARE(redirect_protocols("HTTPS://huggingface.co/x"), "https");
        QCOMPARE(redirect_protocols("http://127.0.0.1/x"), "http,https");
        QCOMPARE(redirect_protocols("127.0.0.1/x"), "https");
    }
    void a_server_that_fails_now_and_then_is_asked_again() {
        hub_->answer_first = std::vector<ServerAnswer>{{503, {}, ""}, {429, {}, ""}, {500, {}, "", 0}};
        check_whole(*fetch());
    }
    void a_server_that_fails_always_is_named() {
        hub_->answer_first = std::vector<ServerAnswer>(100, ServerAnswer{503, {}, ""});
        EXPECT_ERROR(fetch(), "'org/name'", server_->url().c_str(), "503");
        QCOMPARE(count("/api/models"), std::size_t{5});
    }
    void a_server_that_sends_a_byte_more_at_each_try_is_given_up() {
        hub_->cut_after = 1;
        EXPECT_ERROR(fetch(), "'org/name'", "model.safetensors");
        QCOMPARE(count("/large/"), std::size_t(settings_.max_attempts));
        QVERIFY(fs::exists(incomplete()));
    }
    void a_redirect_that_is_not_followed_is_not_asked_for_again() {
        hub_->answer_first = std::vector<ServerAnswer>(10, ServerAnswer{302, {"Location: file:///etc/passwd"}, ""});
        EXPECT_ERROR(fetch(), "'org/name'", "cannot fetch its list of files");
        QCOMPARE(count("/api/"), std::size_t{1});
    }
    void a_connection_that_always_breaks_is_an_error_and_keeps_what_came() {
        hub_->cut_after = 0;
        EXPECT_ERROR(fetch(), "'org/name'", "model.safetensors");
        QVERIFY(!fs::exists(model_folder() / "refs/main"));
    }
    void no_network_is_one_clear_line() {
        const std::string url = server_->url();
        server_.reset();
        EXPECT_ERROR(fetch(), "'org/name'", url.c_str(), "check the network or HF_ENDPOINT");
    }
    void a_gated_model_says_what_to_do_and_a_token_opens_it() {
        hub_->gated = true;
        const std::string page = server_->url() + "/org/name";
        EXPECT_ERROR(resolve_model("org/name"), "'org/name' is gated", "HF_TOKEN", page.c_str());
        make_directories(folder_->path() / "home");
        write_file_atomic(folder_->path() / "home/token", "hf_secret\n");
        check_whole(resolve_model("org/name"));
        QCOMPARE(server_->requests().back().headers.at("authorization"), std::string("Bearer hf_secret"));
        qputenv("HF_TOKEN", "hf_other");
        QCOMPARE(HubSettings::from_environment().token, std::string("hf_other"));
    }
    void the_token_does_not_go_to_another_host() {
        settings_.token = "hf_secret";
        SmallHub elsewhere;
        HttpServer other([&](const ServerRequest& request) { return elsewhere(request); });
        hub_->url = "http://localhost" + other.url().substr(std::string("http://127.0.0.1").size());
        check_whole(*fetch());
        QVERIFY(!other.requests().empty());
        for (const ServerRequest& request : other.requests()) QVERIFY(request.headers.count("authorization") == 0);
    }
    void an_unknown_name_says_where_it_was_looked_for() {
        const fs::path own = folder_->path() / "org/other";
        EXPECT_ERROR(resolve_model("org/other", folder_->path()), "'org/other' was not found", own.c_str(), "models--org--other",
                     server_->url().c_str(), "check the spelling");
        EXPECT_ERROR(resolve_model("short"), "models--sentence-transformers--short", server_->url().c_str());
    }
    void offline_asks_nobody() {
        qputenv("HF_HUB_OFFLINE", "YES");
        EXPECT_ERROR(resolve_model("org/name"), "'org/name' was not found", "models--org--name", "HF_HUB_OFFLINE is set");
        QVERIFY(server_->requests().empty());
    }
    void looking_for_a_model_on_this_machine_asks_nobody() {
        QVERIFY(find_model("org/name", folder_->path()).empty());
        QVERIFY(server_->requests().empty());
        const fs::path fetched = resolve_model("org/name");
        server_->forget_requests();
        QCOMPARE(find_model("org/name"), fetched);
        QVERIFY(server_->requests().empty());
    }
    void a_model_of_pickles_is_refused_before_anything_is_fetched() {
        hub_->files.erase("model.safetensors");
        EXPECT_ERROR(fetch(), "'org/name'", "no safetensors", "pickles");
        QCOMPARE(count("/resolve/", "HEAD"), std::size_t{0});
    }
    void hostile_answers_are_errors() {
        hub_->answer_first = std::vector<ServerAnswer>{{200, {}, "{not json"}};
        EXPECT_ERROR(fetch(), server_->url().c_str());
        hub_->answer_first = std::vector<ServerAnswer>{{200, {}, R"({"sha": "../../x", "siblings": []})"}};
        EXPECT_ERROR(fetch(), "no commit");
        hub_->announced_hash = "../../../x";
        EXPECT_ERROR(fetch(), "no usable ETag");
        hub_->answer_first = std::vector<ServerAnswer>{{302, {"Location: file:///etc/passwd"}, ""}};
        EXPECT_ERROR(fetch(), "'org/name'");
    }
    void a_stop_keeps_what_came_and_the_next_attempt_goes_on() {
        hub_->cut_after = 100'000;
        hub_->on_large = request_stop;
        EXPECT_ERROR(fetch(), "stopped");
        clear_stop_request();
        hub_->on_large = nullptr;
        QVERIFY(fs::exists(incomplete()));
        check_whole(*fetch());
    }
    void several_processes_at_once_fetch_a_large_file_once() {
        std::vector<pid_t> children;
        for (int i = 0; i < 4; ++i) {
            const pid_t child = ::fork();
            if (child == 0) {
                int result = 1;
                try {
                    result = fetch() ? 0 : 1;
                } catch (...) {
                }
                ::_exit(result);
            }
            children.push_back(child);
        }
        for (const pid_t child : children) {
            int status = -1;
            ::waitpid(child, &status, 0);
            QCOMPARE(status, 0);
        }
        check_whole(*fetch());
        QCOMPARE(count("/large/"), std::size_t{1});
    }
};

FACETER_TEST(TestHub)
#include "test_hub.moc"
