from __future__ import annotations

import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_viz.engine import corpus as corpus_module
from bpe_viz.engine import documents, text_counting
from bpe_viz.engine.corpus import count_paths, count_text, count_words, is_word_table, worked_example
from bpe_viz.engine.pretokenize import PRETOKENIZERS, pretokenizer_for, split_lines
from bpe_viz.engine.segments import cut_special_tokens, normalize
from bpe_viz.engine.types import NORMALIZATIONS, CountingOptions
from bpe_viz.errors import CorpusError, OptionError, PatternError, Stopped

GPT2 = CountingOptions()
WORDS = CountingOptions(pretokenizer="whitespace")
TEXTS = st.text(st.sampled_from([*"abΣé\u0301<|>.,'s12\t\r\n\0字", " ", " ", "\n"]), max_size=60)


def counted(corpus) -> dict[str, int]:
    rows = corpus.pretokens
    return {rows.content(row).decode(): int(rows.counts[row]) for row in range(len(rows))}


def naive_counts(text: str, options: CountingOptions) -> Counter[str]:
    """Count by the definition: the whole text at once, or a loop over its lines."""
    counts: Counter[str] = Counter()
    for document in split_lines(text) if options.documents == "line" else [text]:
        for segment, is_special in cut_special_tokens(document, options.special_tokens):
            if not is_special:
                counts.update(pretokenizer_for(options).split(normalize(segment, options.normalize)))
    return counts


def write(path, content: str | bytes):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(
    text=TEXTS.filter(bool),
    pretokenizer=st.sampled_from(list(PRETOKENIZERS)),
    pattern=st.sampled_from([None, None, r"\S+|\s", r"\S*\s?"]),
    documents=st.sampled_from(["file", "line"]),
    special_tokens=st.lists(st.sampled_from(["<|>", "<", "a\n", "\nb", "ab", " "]), max_size=2).map(tuple),
    normalize=st.lists(st.sampled_from(NORMALIZATIONS), max_size=2).map(tuple),
    piece=st.integers(1, 8),
)
def test_counting_in_pieces_equals_counting_by_definition(
    text, pretokenizer, pattern, documents, special_tokens, normalize, piece
):
    options = CountingOptions(pretokenizer, pattern, normalize, special_tokens, documents)
    expected = naive_counts(text, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_counting, "PIECE_CHARACTERS", piece)
        corpus = count_text(text, options)
    assert list(counted(corpus).items()) == list(expected.items())  # first-seen order too
    assert corpus.n_pretokens == expected.total()
    assert corpus.n_characters == len(text)
    assert corpus.n_bytes == len(text.encode())


@pytest.mark.parametrize("name", PRETOKENIZERS)
@pytest.mark.parametrize("documents", ["file", "line"])
def test_real_text_from_files_counts_as_the_whole_text_does(shared, name, documents):
    paths = sorted((shared / "data" / "text").glob("*.txt"))[:2]
    assert paths
    options = CountingOptions(pretokenizer=name, documents=documents)
    expected: Counter[str] = Counter()
    for path in paths:
        expected += naive_counts(path.read_bytes().decode(), options)
    assert counted(count_paths(paths, options)) == expected


def test_the_worked_example_is_a_table_of_four_words():
    corpus = worked_example()
    assert counted(corpus) == {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    assert (corpus.name, corpus.is_table, corpus.n_pretokens) == ("Worked example", True, 16)
    assert corpus.n_bytes == corpus.n_characters == 15 + 10 + 36 + 18


def test_pretokens_lie_end_to_end_in_first_seen_order():
    rows = count_text("né a né", WORDS).pretokens
    assert rows.data == "néa".encode()
    assert rows.offsets.tolist() == [0, 3, 4]
    assert rows.counts.tolist() == [2, 1]


def test_white_space_only_is_a_corpus_without_pretokens(case):
    text = case("TR-12")["input"]["text"]
    assert counted(count_text(text, GPT2)) == {text: 1}
    for options in (WORDS, CountingOptions(pattern=r"\S+")):
        corpus = count_text(text, options)
        assert len(corpus.pretokens) == corpus.n_pretokens == 0
        assert any("no pre-token" in note for note in corpus.notes)


def test_dropped_white_space_is_said():
    assert "3 of 9 characters (33.3%)" in " ".join(count_text("low  low\n", WORDS).notes)


def test_a_pattern_that_leaves_text_uncovered_says_how_much():
    corpus = count_text("ab1cd2", CountingOptions(pattern="[a-z]+"))
    assert counted(corpus) == {"ab": 1, "cd": 1}
    assert "leaves 2 of 6 characters (33.3%) uncovered" in corpus.notes[0]


def test_empty_matches_are_skipped_and_counted():
    corpus = count_text("ab!", CountingOptions(pattern=r"\w*"))
    assert counted(corpus) == {"ab": 1}
    assert "Empty matches of the pattern, which count as no pre-token: 2." in corpus.notes[0]


@pytest.mark.parametrize("pattern", ["z+", "z*"])
def test_a_pattern_that_matches_nothing_is_told(pattern):
    with pytest.raises(PatternError, match="matches nothing in Pasted text"):
        count_text("abc", CountingOptions(pattern=pattern))


def test_no_text_is_told():
    with pytest.raises(CorpusError, match="no text"):
        count_text("", GPT2)
    with pytest.raises(CorpusError, match="No file was given"):
        count_paths([], GPT2)
    with pytest.raises(OptionError):
        count_text("a", CountingOptions(documents="page"))  # type: ignore[arg-type]  # as a faulty file may say


def test_surrogates_in_pasted_text_are_repaired_and_said():
    corpus = count_text("\ud83d\udc4d \ud83d", WORDS)
    assert counted(corpus) == {"\U0001f44d": 1, "\ufffd": 1}
    assert len(corpus.notes) == 3


def test_special_tokens_end_pretokens_and_are_said():
    corpus = count_text("a <s> b<s>", CountingOptions(special_tokens=("<s>",)))
    assert counted(corpus) == {"a": 1, " ": 1, " b": 1}
    assert "cut out before counting: 2." in corpus.notes[0]


def test_nul_is_ordinary_text(shared):
    corpus = count_paths([shared / "cases" / "files" / "corpus_nul.txt"], CountingOptions(pretokenizer="whitespace"))
    assert counted(corpus) == {"a\0b": 2}


def test_cr_lf_stays_as_it_is(tmp_path):
    path = write(tmp_path / "a.txt", "a\r\nb\r\n")
    assert counted(count_paths([path], CountingOptions(pretokenizer="none"))) == {"a\r\n": 1, "b\r\n": 1}


def test_long_words_and_lines_are_counted_whole(tmp_path):
    word = count_text("a" * 70_000, GPT2)
    assert counted(word) == {"a" * 70_000: 1}
    path = write(tmp_path / "line.txt", b"x" * 10_000_000)
    assert count_paths([path], GPT2).pretokens.counts.tolist() == [1]
    spaced = write(tmp_path / "spaced.txt", b"low " * 500_000)
    assert counted(count_paths([spaced], GPT2)) == {"low": 1, " low": 499_999, " ": 1}


@pytest.mark.parametrize("run", ["^", " ", "\n", "a", "字", "A"])
def test_long_runs_are_one_pretoken_in_linear_time(run):
    assert counted(count_text(run * 300_000, CountingOptions(pretokenizer="o200k"))) == {run * 300_000: 1}


def test_a_users_pattern_shows_progress_and_is_stopped_in_the_middle(tmp_path):
    path = write(tmp_path / "novel.txt", "low lower " * 60_000)
    options = CountingOptions(pattern=r"\w+|\W")
    told: list[float] = []

    def is_enough() -> bool:
        return len(told) > 2 and told[-1] > 0.2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "_SECONDS_BETWEEN_REPORTS", 0.0)
        with pytest.raises(Stopped):
            count_paths([path], options, lambda fraction, doing: told.append(fraction), is_enough)
    assert told == sorted(told)
    assert told[-1] < 1.0


def test_progress_is_reported_and_stop_is_obeyed(tmp_path):
    path = write(tmp_path / "a.txt", b"low lower\n" * 200_000)
    reports: list[tuple[float, str]] = []
    corpus = count_paths([path], GPT2, lambda part, text: reports.append((part, text)))
    assert corpus.name == "a.txt"
    assert reports[-1] == (1.0, "Counting a.txt")
    assert all(0 <= part <= 1 for part, _ in reports)
    asked = iter([False, False, True])
    with pytest.raises(Stopped):
        count_paths([path], GPT2, should_stop=lambda: next(asked))


def test_a_user_pattern_on_one_long_text_can_be_stopped(tmp_path):
    path = write(tmp_path / "a.txt", b"low " * 50_000)
    asked = iter([False] * 20 + [True])
    with pytest.raises(Stopped):
        count_paths([path], CountingOptions(pattern=r"\w+ ?"), should_stop=lambda: next(asked))


def test_files_are_documents_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "BLOCK_BYTES", 3)
    paths = [write(tmp_path / "a.txt", "low"), write(tmp_path / "b.txt.gz", gzip.compress(b"low low"))]
    corpus = count_paths(paths, GPT2)
    assert counted(corpus) == {"low": 2, " low": 1}
    assert corpus.name == "2 files"
    assert corpus.sources == tuple(map(str, paths))
    assert count_paths([tmp_path], GPT2).name == tmp_path.name


def test_a_folder_of_binary_files_is_told(tmp_path):
    write(tmp_path / "a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(CorpusError, match="no text files"):
        count_paths([tmp_path], GPT2)


def test_a_table_is_taken_as_it_is(tmp_path):
    table = "pretoken\tcount\nlow\t5\n a b\t2\r\n\\t\\n\\r\\\\\t3\n\nlow\t1\nnew york 4\n"
    corpus = count_paths([write(tmp_path / "words.tsv", table)], GPT2)
    assert counted(corpus) == {"low": 6, " a b": 2, "\t\n\r\\": 3, "new york": 4}
    assert corpus.is_table
    assert "added up: 1." in corpus.notes[0]


def test_csv_may_quote_commas_and_lines(tmp_path):
    path = write(tmp_path / "words.csv", 'pretoken,count\r\n"a,b",5\r\n"c\nd",2\r\n"""", 1\r\n')
    assert counted(count_paths([path], GPT2)) == {"a,b": 5, "c\nd": 2, '"': 1}


def test_tables_add_up(tmp_path):
    paths = [write(tmp_path / "a.tsv", "low\t5\n"), write(tmp_path / "b.csv", "low,2\nnew,1\n")]
    assert counted(count_paths(paths, GPT2)) == {"low": 7, "new": 1}


@pytest.mark.parametrize(
    "row",
    [
        "low",
        "low\t",
        "low\tmany",
        "low\t0",
        "low\t-3",
        "low\t1.5",
        "low\t1_0",
        "low\t٣",
        "\t5",
        "a\\x\t5",
        "low\t" + "9" * 30,
    ],
)
def test_a_bad_row_of_a_table_is_named(tmp_path, row):
    with pytest.raises(CorpusError, match=r"words\.tsv, line 2: "):
        count_paths([write(tmp_path / "words.tsv", f"new\t1\n{row}\n")], GPT2)


@pytest.mark.parametrize("row", ["low", "a,b,3", '"low,3', "low,x"])
def test_a_bad_row_of_csv_is_named(tmp_path, row):
    with pytest.raises(CorpusError, match=r"words\.csv, line 2"):
        count_paths([write(tmp_path / "words.csv", f"new,1\n{row}")], GPT2)


@pytest.mark.parametrize(
    ("name", "line"), [("a.csv", "word,count"), ("a.tsv", "word\tn"), ("a.csv", '"the word",how often')]
)
def test_any_header_of_a_table_is_left_out_and_noted(tmp_path, name, line):
    corpus = count_paths([write(tmp_path / name, f"{line}\nlow{line[4] if name == 'a.tsv' else ','}5\n")], GPT2)
    assert counted(corpus) == {"low": 5}
    assert "taken as a header" in corpus.notes[0]


@pytest.mark.parametrize("row", ["low,-1", "low,0", "low,1.5", "low,", "low,1_000"])
def test_a_bad_count_in_the_first_line_is_no_header(tmp_path, row):
    with pytest.raises(CorpusError, match="line 1"):
        count_paths([write(tmp_path / "a.csv", f"{row}\nnew,2\n")], GPT2)


def test_white_space_only_is_said(tmp_path):
    assert any("white space only" in note for note in count_text(" \n\n  \t", GPT2).notes)


def test_empty_tables_and_mixtures_are_told(tmp_path):
    empty = write(tmp_path / "empty.tsv", "")
    header = write(tmp_path / "header.tsv", "pretoken\tcount\n")
    text = write(tmp_path / "a.txt", "low")
    with pytest.raises(CorpusError, match="is empty"):
        count_paths([empty], GPT2)
    with pytest.raises(CorpusError, match="no pre-token"):
        count_paths([header], GPT2)
    with pytest.raises(CorpusError, match=r"header\.tsv is a word table and .*a\.txt is text"):
        count_paths([text, header], GPT2)


@pytest.mark.parametrize(
    "counts", [{}, {"": 1}, {"low": 0}, {"low": -1}, {"low": 2**63}, {chr(0xD83D): 2**62, "\ufffd": 2**62}]
)
def test_a_table_in_memory_is_checked(counts):
    with pytest.raises(CorpusError):
        count_words(counts, "Table")


def test_parquet_with_counts_is_a_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "words.parquet"
    parquet.write_table(pyarrow.table({"pretoken": ["low", " new"], "count": [5, 2]}), path)
    assert is_word_table(path)
    assert counted(count_paths([path], GPT2)) == {"low": 5, " new": 2}
    parquet.write_table(pyarrow.table({"text": ["low low"]}), path)
    assert not is_word_table(path)
    assert counted(count_paths([path], WORDS)) == {"low": 2}


def test_words_of_one_letter_are_counted(case):
    assert counted(count_text(case("TR-11")["input"]["text"], WORDS)) == {"a": 1, "b": 1, "c": 1}


class TestExcerpt:
    def test_a_short_text_is_its_own_excerpt(self):
        assert count_text("\n low lower ", CountingOptions()).excerpt == "low lower "

    def test_a_long_text_is_cut_after_a_word(self):
        excerpt = count_text("word " * 1000, CountingOptions()).excerpt
        assert excerpt == ("word " * 80).strip()

    def test_a_word_without_an_end_is_cut_anywhere(self):
        assert count_text("a" * 5000, CountingOptions()).excerpt == "a" * 400

    def test_a_table_begins_with_its_words(self):
        assert count_words({"low": 5, "lower": 2}, "words").excerpt == "low lower"
