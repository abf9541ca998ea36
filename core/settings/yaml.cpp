#include "settings/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <unordered_set>

#include "common/file.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// Builds the tree from the parser's events: values are finished on a stack and handed to their parent, so that nothing is built twice.
class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::string_view file, const YamlLimits& limits) : source_(std::make_shared<const std::string>(file)), limits_(limits) {}

    YamlNode take_root() {
        if (root_.kind == YamlNode::Kind::null && !root_.source) root_.source = source_;
        return std::move(root_);
    }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(node(mark, YamlNode::Kind::null), anchor); }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
        YamlNode scalar = node(mark, YamlNode::Kind::scalar);
        check_tag(tag, scalar);
        if (!is_valid_utf8(value))  // yaml-cpp makes bytes of these two escapes
            throw error(scalar, R"(a text that is not UTF-8; of the escapes "\N" and "\_" write "\x85" and "\xA0")");
        if (value.find('\0') != std::string::npos)  // it ends names of files, and what is said of them
            throw error(scalar, R"(a text with a zero byte; leave the escape "\0" out)");
        scalar.text = value;
        scalar.quoted = tag == "!";
        add(std::move(scalar), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const YamlNode here = node(mark, YamlNode::Kind::null);
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw error(here, "an alias to a value that is not finished");
        count(found->second, here, static_cast<int>(stack_.size()));
        attach(YamlNode(found->second));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::sequence);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::map);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

  private:
    struct Level {
        YamlNode node;
        YAML::anchor_t anchor = YAML::NullAnchor;
        std::optional<YamlNode> key;           ///< map: read, its value not yet
        std::unordered_set<std::string> keys;  ///< map: so that a hundred thousand are not compared each with each
    };

    static Error error(const YamlNode& at, std::string_view what) { return settings_error("{}: {}", at.position().text(), what); }

    YamlNode node(const YAML::Mark& mark, YamlNode::Kind kind) const {
        YamlNode made;
        made.kind = kind;
        made.source = source_;
        made.line = mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line) + 1;
        made.column = mark.column < 0 ? 0 : static_cast<std::size_t>(mark.column) + 1;
        return made;
    }

    static void check_tag(const std::string& tag, const YamlNode& at) {
        if (!tag.empty() && tag != "?" && tag != "!")
            throw error(at, fmt::format("tags such as {} are not understood; leave it out", faceter::quoted(tag)));
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
        Level level{node(mark, kind), anchor, std::nullopt, {}};
        check_tag(tag, level.node);
        if (static_cast<int>(stack_.size()) >= limits_.depth)
            throw error(level.node, fmt::format("nested deeper than {} levels", limits_.depth));
        if (!stack_.empty() && stack_.back().node.kind == YamlNode::Kind::map && !stack_.back().key)
            throw error(level.node, "a key must be plain text, not a list or a map; or a [ or { before it is not closed");
        stack_.push_back(std::move(level));
    }

    void close() {
        Level level = std::move(stack_.back());
        stack_.pop_back();
        add(std::move(level.node), level.anchor);
    }

    void add(YamlNode made, YAML::anchor_t anchor) {
        tally(made, made);
        if (anchor != YAML::NullAnchor) {
            count(made, made, 0);  // the copy that aliases are made of
            anchors_.insert_or_assign(anchor, made);
        }
        attach(std::move(made));
    }

    void attach(YamlNode made) {
        if (stack_.empty()) {
            root_ = std::move(made);
            return;
        }
        Level& parent = stack_.back();
        if (parent.node.kind == YamlNode::Kind::sequence)
            parent.node.items.push_back(std::move(made));
        else if (!parent.key)
            take_key(parent, std::move(made));
        else
            parent.node.entries.push_back({parent.key->text, parent.key->line, parent.key->column, std::move(made)}), parent.key.reset();
    }

    static void take_key(Level& parent, YamlNode key) {
        if (key.kind != YamlNode::Kind::scalar) throw error(key, "a key must be plain text");
        if (key.text == "<<" && !key.quoted)
            throw error(key, "merge keys ('<<') are not understood; write the settings out, or an alias (*name) in place of the whole map");
        if (!parent.keys.insert(key.text).second)
            throw error(key, fmt::format("setting {} stands twice in the same map (first in line {}); remove one",
                                         faceter::quoted(key.text), parent.node.entry(key.text)->line));
        parent.key = std::move(key);
    }

    /// Aliases and what they name cost what they expand to: a file of 1 KB can say a billion nodes.
    void count(const YamlNode& tree, const YamlNode& at, int depth) {
        tally(tree, at);
        if (depth > limits_.depth) throw error(at, fmt::format("nested deeper than {} levels", limits_.depth));
        for (const YamlNode& item : tree.items) count(item, at, depth + 1);
        for (const auto& entry : tree.entries) count(entry.value, at, depth + 1);
    }

    void tally(const YamlNode& one, const YamlNode& at) {
        bytes_ += one.text.size();
        for (const auto& entry : one.entries) bytes_ += entry.key.size();
        if (++nodes_ > limits_.nodes || bytes_ > limits_.bytes)
            throw error(at, fmt::format("the file grows beyond {} values or {} bytes (aliases count as what they stand for)", limits_.nodes,
                                        limits_.bytes));
    }

    std::shared_ptr<const std::string> source_;
    YamlLimits limits_;
    std::vector<Level> stack_;
    std::map<YAML::anchor_t, YamlNode> anchors_;
    YamlNode root_;
    std::size_t nodes_ = 0, bytes_ = 0;
};

/// Brackets nested this deep cost the parser quadratic time before any of its events is seen, so they are counted first.
void check_flow_depth(std::string_view text, std::string_view file, int depth_limit) {
    int depth = 0;
    std::size_t line = 1;
    for (const char c : text) {
        if (c == '\n') {
            ++line;
            depth = 0;  // an experiment's flow lists end on their line; block nesting is counted by the builder
        }
        depth += (c == '[' || c == '{') - ((c == ']' || c == '}') && depth > 0);
        if (depth > depth_limit) throw settings_error("{}:{}: nested deeper than {} levels", file, line, depth_limit);
    }
}

void parse_document(std::string_view text, std::string_view file, TreeBuilder& builder, const YamlLimits& limits) {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second(file, limits);
    if (parser.HandleNextDocument(second)) throw settings_error("{}: holds a second document ('---'); one a file is expected", file);
}

/// Whether a tab stands in front of what a line holds.
bool is_indented_by_tab(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    return begin != std::string_view::npos && line.substr(0, begin).find('\t') != std::string_view::npos;
}

/// What people most often did where the parser stopped.
std::string advice_on(const YAML::Exception& problem, std::string_view text) {
    const std::vector<std::string_view> lines = split(text, '\n');
    const auto here = static_cast<std::size_t>(std::max(problem.mark.line, 0));
    for (std::size_t line = here > 0 ? here - 1 : 0; line <= here && line < lines.size(); ++line)
        if (is_indented_by_tab(lines[line])) return fmt::format("; a tab indents line {}: write blanks in its place", line + 1);
    const std::string& said = problem.msg;
    if (said == YAML::ErrorMsg::END_OF_MAP_FLOW || said == YAML::ErrorMsg::END_OF_SEQ_FLOW)
        return "; a '{' or '[' is not closed, or a text within holds ': ' or a comma: put it in quotes";
    if (said == YAML::ErrorMsg::MAP_VALUE || said == YAML::ErrorMsg::END_OF_MAP || said == YAML::ErrorMsg::END_OF_SEQ)
        return "; look here and a line above: settings of one map begin in one column, and a blank stands behind each ':'";
    return "";
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    const Entry* found = entry(key);
    return found ? &found->value : nullptr;
}

YamlNode* YamlNode::find(std::string_view key) { return const_cast<YamlNode*>(std::as_const(*this).find(key)); }

const YamlNode::Entry* YamlNode::entry(std::string_view key) const {
    for (const Entry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

std::string_view YamlNode::kind_name() const {
    switch (kind) {
        case Kind::null:
            return "nothing";
        case Kind::scalar:
            return "a single value";
        case Kind::sequence:
            return "a list";
        case Kind::map:
            return "a map";
    }
    return "";
}

YamlNode parse_yaml(std::string_view text, std::string_view file, const YamlLimits& limits) {
    if (text.size() > limits.bytes) throw settings_error("{}: larger than the {} bytes expected of such a file", file, limits.bytes);
    if (!is_valid_utf8(text)) throw settings_error("{}: is not UTF-8 text", file);
    if (text.find('\0') != std::string_view::npos) throw settings_error("{}: holds a zero byte; is it a text file?", file);
    check_flow_depth(text, file, limits.depth);
    try {
        // yaml-cpp takes a quote that is never closed for closed where the file ends with a line break: so once without the line break.
        TreeBuilder trial(file, limits);
        parse_document(text.substr(0, text.find_last_not_of(" \r\n\t") + 1), file, trial, limits);
        TreeBuilder builder(file, limits);
        parse_document(text, file, builder, limits);
        return builder.take_root();
    } catch (const YAML::Exception& problem) {
        const SourcePosition at{std::string(file), static_cast<std::size_t>(std::max(problem.mark.line + 1, 0)),
                                static_cast<std::size_t>(std::max(problem.mark.column + 1, 0))};
        throw settings_error("{}: not valid YAML: {}{}", at.text(), problem.msg, advice_on(problem, text));
    }
}

YamlNode read_yaml(const std::string& path, const YamlLimits& limits) { return parse_yaml(read_file(path, limits.bytes), path, limits); }

}  // namespace faceter
