#!/usr/bin/env python3
"""Writes random tokenizers with the ids that Hugging Face's `tokenizers` give to random texts; slow_peer_tokenizers compares.

usage: PEERS/bin/python peer_tokenizers.py OUT SEED TOKENIZERS TEXTS [FIXTURES]     (needs the package tokenizers)

OUT/N/tokenizer.json, OUT/N/cases.json = {"max_length": .., "texts": [..], "ids": [..]}. FIXTURES is the folder of the shared tokenizer
fixtures, from which a charsmap of sentencepiece is taken.
"""
import json, os, random, sys

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

POOLS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " ", "  \t\n\r\v\f\x85\u00a0\u3000\u200b\u2028", ".,;:!?-_'\"()[]{}<>@#$%^&*+=/\\|`~",
    "àáâãäåèéêëìíîïòóôõöùúûüýÿçñßøæœ", "\u0300\u0301\u0302\u0308\u0323\u0327\u0345\u0483\u0591\u064b", "абвгдежзийклмнопрстуфхцчшщ", "αβγδεζηθικλμνξοπρσςΣ",
    "אבגדהוזחטיךכל", "ابتثجحخدذرزسش\u0600\u06dd", "अआइईउऊकखगघ\u094d\u093c\u0958ज़षसहािी", "กขคงจฉำเ็่้", "一二三四五六七八九十人大中国日本語", "あいうアイウｶﾞﾊﾟ\u3099",
    "가나다라마바사\u1100\u1161\u11a8", "😀🎉🚀❤️👍🏽👩‍💻🇫🇷\u200d\ufe0f", "\x00\x01\x1f\x7f\u0080\ufffd\ufeff\u00ad", "½¾²³¹①②ⅣⅦ㎏℃™№ªº", "ＡＢＣａｂｃ１２３！？　", "▁Ġ", "ſK\u0130\u0131ǅﬁﬀﷺ",
]
WORDS = "the a of and to in is it's don't we'll I'm THEY'VE can't words tokens Straße naïve café 2024 3.14 foo_bar x=y+z; hello  world <s> </s> <mask> [MASK] <x> new york".split(" ")
PATTERNS = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[一-龥぀-ゟ゠-ヿ]+", r"\p{N}{1,3}", r"\w+|[^\w\s]+", r"\s+", r"[0-9][0-9][0-9]", r"(?<=\d)\.(?=\d)|\S", r"^\s+|\s+$", r"a*", r"\W", r"(?:ab|a){2,3}b?",
]


def text(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return "".join(chr(c) for c in (rng.randrange(1, 0x110000 if rng.random() < 0.2 else 0x3200) for _ in range(rng.randrange(1, 30))) if not 0xD800 <= c < 0xE000)
    if kind == 1:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 20)))
    pools = rng.sample(POOLS, rng.randrange(1, 5)) + ([" "] if rng.random() < 0.5 else [])
    out = "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(0, 80 if kind < 5 else 400)))
    return out if kind != 3 else " ".join([out, *rng.sample(WORDS, 3)])


def normalizer(rng, charsmaps):
    def one():
        kinds = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Replace", "ReplaceRegex", "Prepend", "Bert", "Nmt"] + ["Precompiled"] * (4 if charsmaps else 0)
        kind = rng.choice(kinds)
        if kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"): return getattr(normalizers, kind)()
        if kind == "Strip": return normalizers.Strip(left=rng.random() < 0.5, right=rng.random() < 0.5)
        if kind == "Replace": return normalizers.Replace(rng.choice([" ", "a", "``", "\n", "e"]), rng.choice(["▁", "", " ", "xy"]))
        if kind == "ReplaceRegex": return normalizers.Replace(Regex(rng.choice([" {2,}", r"\s+", r"[\n\r\t]", *PATTERNS[5:]])), rng.choice(["▁", "", " "]))
        if kind == "Prepend": return normalizers.Prepend(rng.choice(["▁", " ", "x"]))
        if kind == "Bert": return normalizers.BertNormalizer(*[rng.random() < 0.5 for _ in range(4)])
        return normalizers.Precompiled(rng.choice(charsmaps))
    steps = [one() for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    return None if not steps else steps[0] if len(steps) == 1 and rng.random() < 0.7 else normalizers.Sequence(steps)


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def pre_tokenizer(rng, byte_level):
    def one():
        kind = rng.choice(["Metaspace", "Metaspace", "WhitespaceSplit", "Whitespace", "Split", "Split", "SplitText", "Bert", "Digits", "Punctuation", "Char"])
        if kind == "Metaspace": return pre_tokenizers.Metaspace("▁", rng.choice(["always", "first", "never"]), rng.random() < 0.7)
        if kind == "WhitespaceSplit": return pre_tokenizers.WhitespaceSplit()
        if kind == "Whitespace": return pre_tokenizers.Whitespace()
        if kind == "Split": return pre_tokenizers.Split(Regex(rng.choice(PATTERNS)), rng.choice(BEHAVIORS), rng.random() < 0.2)
        if kind == "SplitText": return pre_tokenizers.Split(rng.choice([" ", "a", "▁", "the"]), rng.choice(BEHAVIORS), rng.random() < 0.2)
        if kind == "Bert": return pre_tokenizers.BertPreTokenizer()
        if kind == "Digits": return pre_tokenizers.Digits(rng.random() < 0.5)
        if kind == "Punctuation": return pre_tokenizers.Punctuation(rng.choice(BEHAVIORS))
        return pre_tokenizers.CharDelimiterSplit(rng.choice([" ", "e", "▁"]))
    steps = [one() for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]
    if byte_level: steps.append(pre_tokenizers.ByteLevel(add_prefix_space=rng.random() < 0.3, use_regex=rng.random() < 0.5))
    if byte_level and rng.random() < 0.1: steps.append(one())
    return None if not steps else steps[0] if len(steps) == 1 else pre_tokenizers.Sequence(steps)


def model(rng, pieces, byte_level):
    """A model over the pieces that the steps really make of the texts, some of them joined at random."""
    bytes_ = ["<0x%02X>" % i for i in range(256)]
    chars = sorted({c for p in pieces for c in p})
    rng.shuffle(chars)
    chars = chars[: max(1, int(len(chars) * rng.choice([0.5, 0.9, 1.0])))]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet()) if byte_level else chars
    kind = rng.choice(["Unigram", "BPE", "BPE"]) if byte_level else rng.choice(["Unigram", "Unigram", "BPE", "BPE", "WordPiece"])
    cut = lambda p: (lambda a: p[a : a + rng.randrange(1, 7)])(rng.randrange(len(p)))
    subwords = sorted({cut(rng.choice(pieces)) for _ in range(600)} - set(chars)) if pieces else []
    if kind == "Unigram":
        fallback = rng.random() < 0.3
        names = ["<unk>", "<s>", "</s>", "▁"] + (bytes_ if fallback else []) + chars + subwords
        vocab = list(dict.fromkeys(names))
        return models.Unigram([(p, -float(rng.randrange(1, 40)) / rng.choice([1, 2, 3, 7])) for p in vocab], 0, fallback)
    if kind == "WordPiece":
        vocab = list(dict.fromkeys(["[UNK]"] + chars + ["##" + c for c in chars] + subwords + ["##" + s for s in subwords]))
        return models.WordPiece({p: i for i, p in enumerate(vocab)}, unk_token="[UNK]", max_input_chars_per_word=rng.choice([10, 100]))
    fallback = not byte_level and rng.random() < 0.4
    vocab = dict.fromkeys(["<unk>", "▁"] + (bytes_ if fallback else []) + alphabet)
    merges, left = [], list(alphabet) + ["▁"] * 20
    for _ in range(rng.choice([0, 300, 800])):
        if pieces and rng.random() < 0.8:   # a pair that occurs
            p = rng.choice(pieces)
            if len(p) < 2: continue
            i = rng.randrange(1, len(p))
            a, b = p[max(0, i - rng.randrange(1, 4)) : i], p[i : i + rng.randrange(1, 3)]
            if a not in vocab or b not in vocab: continue
        else:
            a, b = rng.choice(left), rng.choice(left)
        if len(a) + len(b) > 8 or (" " in a + b): continue
        merges.append((a, b)); vocab.setdefault(a + b); left.append(a + b)
    return models.BPE({p: i for i, p in enumerate(vocab)}, merges, unk_token=rng.choice([None, "<unk>"]), fuse_unk=rng.random() < 0.5,
                      byte_fallback=fallback, ignore_merges=rng.random() < 0.3)


def make(rng, texts, charsmaps):
    byte_level = rng.random() < 0.35
    norm, pre = normalizer(rng, charsmaps), pre_tokenizer(rng, byte_level)
    pieces = []
    for t in texts[:60]:
        t = norm.normalize_str(t) if norm else t
        pieces += [p for p, _ in pre.pre_tokenize_str(t)] if pre else [t]
    tok = Tokenizer(model(rng, [p for p in pieces if p][:3000], byte_level))
    if norm: tok.normalizer = norm
    if pre: tok.pre_tokenizer = pre
    flags = lambda: {f: rng.random() < 0.3 for f in ("single_word", "lstrip", "rstrip", "normalized")}
    tok.add_special_tokens([AddedToken(t, special=True, **flags()) for t in rng.sample(["<s>", "</s>", "<mask>", "[MASK]"], 3)])
    tok.add_tokens([AddedToken(t, **flags()) for t in rng.sample(["<x>", "new york", "the", "É", "▁", "  ", "ab"], rng.randrange(4))])
    specials = [(t, tok.token_to_id(t)) for t in ("<s>", "</s>") if tok.token_to_id(t) is not None]
    kind = rng.randrange(4)
    if len(specials) == 2 and kind == 0: tok.post_processor = processors.TemplateProcessing("<s> $A </s>", None, specials)
    if len(specials) == 2 and kind == 1: tok.post_processor = processors.RobertaProcessing(specials[1], specials[0])
    if len(specials) == 2 and kind == 2: tok.post_processor = processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing("$A </s>", None, specials[1:])])
    return tok


def main(out, seed, num_tokenizers, num_texts, fixtures=None):
    charsmaps = []
    if fixtures:
        for name in ("xlmr_unigram", "t5_unigram"):
            import base64
            step = json.load(open(os.path.join(fixtures, name, "tokenizer.json"), encoding="utf8"))["normalizer"]
            charsmaps.append(base64.b64decode(step["precompiled_charsmap"]))
    made = 0
    for number in range(int(num_tokenizers) * 3):
        if made == int(num_tokenizers): break
        rng = random.Random(f"{seed} {number}")
        texts = [text(rng) for _ in range(int(num_texts))]
        try:
            tok = make(rng, texts, charsmaps)
            max_length = rng.choice([0, 0, 8, 30])
            if max_length: tok.enable_truncation(max_length)
            ids = [tok.encode(t).ids for t in texts]
        except BaseException as error:  # the peer panics on some arrangements
            if isinstance(error, KeyboardInterrupt): raise
            continue
        tok.no_truncation()
        folder = os.path.join(out, str(made))
        os.makedirs(folder)
        tok.save(os.path.join(folder, "tokenizer.json"))
        json.dump({"max_length": max_length, "texts": texts, "ids": ids}, open(os.path.join(folder, "cases.json"), "w", encoding="utf8"))
        made += 1
    print(made, "tokenizers")


main(*sys.argv[1:])
