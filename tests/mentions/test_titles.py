"""Title lists taken apart, the ways to say a title, and files as people have them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import SourceError
from recloak._mentions.post_files import posts_from_table, read_posts, read_titles, title_list
from recloak._mentions.text import Lexicon, fold_all, words_of
from recloak._mentions.titles import article_first, heroes_of, parse, variants


@pytest.mark.parametrize(
    ("line", "names", "year"),
    [
        ("Matrix, The (1999)", ("The Matrix",), 1999),
        ("City of God (Cidade de Deus) (2002)", ("City of God", "Cidade de Deus"), 2002),
        ("Seven (a.k.a. Se7en) (1995)", ("Seven", "Se7en"), 1995),
        ("Misérables, Les (1995)", ("Les Misérables",), 1995),
        ("Lord of the Rings: The Two Towers, The (2002)", ("The Lord of the Rings: The Two Towers",), 2002),
        ("Avventura, L' (a.k.a. Adventure, The) (1960)", ("L'Avventura", "The Adventure"), 1960),
        ("(500) Days of Summer (2009)", ("(500) Days of Summer",), 2009),
        ("2001: A Space Odyssey (1968)", ("2001: A Space Odyssey",), 1968),
        ("1984 (1984)", ("1984",), 1984),
        ("Black Mirror", ("Black Mirror",), None),
        ("(1917)", ("(1917)",), None),
    ],
)
def test_a_line_is_taken_apart(line, names, year):
    title = parse(7, line)
    assert (title.names, title.year) == (names, year)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Matrix, The (1999)", "matrix"),
        ("Godfather: Part II, The (1974)", "godfather 2"),
        ("Rocky IV (1985)", "rocky four"),
        ("Star Wars: Episode V - The Empire Strikes Back (1980)", "Empire Strikes Back"),
        ("Star Wars: Episode V - The Empire Strikes Back (1980)", "star wars 5"),
        ("Spider-Man (2002)", "spiderman"),
        ("WALL·E (2008)", "Wall-E"),
        ("Se7en (1995)", "seven"),
        ("Ocean's Eleven (2001)", "oceans 11"),
        ("Thelma & Louise (1991)", "thelma and louise"),
        ("Amélie (2001)", "amelie"),
        ("Monty Python's Life of Brian (1979)", "life of brian"),
        ("Eternal Sunshine of the Spotless Mind (2004)", "eternal sunshine"),
        ("Alien³ (1992)", "alien 3"),
        ("M*A*S*H (1970)", "MASH"),
        ("Pulp Fiction (1994)", "pulpfiction"),
    ],
)
def test_people_say_titles_in_their_own_way(line, said):
    assert " ".join(fold_all(said)) in {variant.words for variant in variants(parse(1, line), Lexicon())}


def test_one_everyday_word_is_never_left_of_a_title_by_dropping_its_article():
    assert "help" not in {variant.words for variant in variants(parse(1, "Help, The (2011)"), Lexicon())}


def test_the_adventure_alone_names_the_film_of_a_hero_with_several():
    films = [parse(1, "Harry Potter and the Goblet of Fire (2005)"), parse(2, "Harry Potter and the Half-Blood Prince")]
    heroes = heroes_of(films)
    assert heroes == {"Harry Potter"}
    assert "goblet of fire" in {variant.words for variant in variants(films[0], Lexicon(), heroes)}


@given(st.text(max_size=60))
def test_any_line_gives_a_title_with_a_name(line):
    title = parse(1, line)
    assert len(title.names) >= 1
    assert list(variants(title, Lexicon())) is not None
    assert article_first(article_first(line)) is not None


@given(st.text(max_size=200))
def test_words_keep_their_places_in_any_text(text):
    words = words_of(text)
    assert all(fold_all(words.raw(n)) for n in range(len(words)) if words.raw(n) not in "&+")
    ends = [end for _, end in words.spans]
    assert all(start >= end for (start, _), end in zip(words.spans[1:], ends, strict=False))


def test_a_dat_file_keeps_the_colons_of_its_titles(tmp_path):
    file = tmp_path / "movies.dat"
    file.write_bytes(
        "1::Face/Off (1997)::Action\n2::Kill Bill: Vol. 1 (2003)::Action|Crime\n3::Amélie (2001)::Romance\n".encode(
            "latin-1"
        )
    )
    titles = read_titles(file).titles
    assert [str(title) for title in titles] == ["Face/Off (1997)", "Kill Bill: Vol. 1 (2003)", "Amélie (2001)"]
    assert [title.id for title in titles] == [1, 2, 3]


def test_leading_zeros_of_ids_stay(tmp_path):
    (tmp_path / "movies.dat").write_text("0110912::Pulp Fiction (1994)::Crime\n")
    assert read_titles(tmp_path / "movies.dat").titles[0].id == "0110912"


def test_movielens_csv_and_recbole_item_are_read(tmp_path):
    (tmp_path / "movies.csv").write_text('movieId,title,genres\n1,"Matrix, The (1999)",Action\n')
    (tmp_path / "x.item").write_text(
        "item_id:token\tmovie_title:token_seq\trelease_year:token\nHeat (1995)\tHeat\t1995\n"
    )
    matrix = read_titles(tmp_path / "movies.csv").titles[0]
    heat = read_titles(tmp_path / "x.item").titles[0]
    assert (matrix.id, matrix.names, matrix.year) == (1, ("The Matrix",), 1999)
    assert (heat.id, heat.names, heat.year) == ("Heat (1995)", ("Heat",), 1995)


def test_repeated_and_empty_titles_are_counted():
    listed = title_list([(1, "Heat (1995)", None), (2, "Heat", 1995), (3, "", None), (4, "Heat (1986)", None)])
    assert [title.id for title in listed.titles] == [1, 4]
    assert (listed.n_repeated, listed.n_empty) == (1, 1)


def test_a_list_without_titles_is_refused():
    with pytest.raises(SourceError, match="no titles"):
        title_list([(1, None, None)])


def test_posts_come_from_lines_and_tables_and_broken_bytes_are_counted(tmp_path):
    (tmp_path / "posts.txt").write_bytes(b"I saw Heat\n\ncaf\xe9 talk\n")
    posts = read_posts(tmp_path / "posts.txt")
    assert (len(posts), posts.n_empty, posts.n_undecodable) == (3, 1, 1)
    (tmp_path / "posts.jsonl").write_bytes(
        b'{"author": "ann", "body": "Heat is great"}\n{"author": "bob", "body": "\xff"}\n'
    )
    posts = read_posts(tmp_path / "posts.jsonl")
    assert posts.table["user"].to_list() == ["ann", "bob"]
    assert posts.n_undecodable == 1
    (tmp_path / "posts.csv").write_text("post_id,user_id,text\n9,7,\n10,8,Heat\n")
    posts = read_posts(tmp_path / "posts.csv")
    assert posts.table["post"].to_list() == [9, 10]
    assert posts.n_empty == 1


def test_a_table_without_text_is_refused_with_its_columns(tmp_path):
    (tmp_path / "posts.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="no column for the text was recognised among a, b"):
        read_posts(tmp_path / "posts.csv")
    with pytest.raises(SourceError, match="there is no column 'x'"):
        posts_from_table(pl.DataFrame({"text": ["hi"]}), text="x")
    with pytest.raises(SourceError, match="no such file"):
        read_posts(tmp_path / "none.csv")


def test_a_table_without_titles_is_named(tmp_path):
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating\n1,2,3\n")
    with pytest.raises(
        SourceError, match=r"ratings\.csv: no column for the title was recognised among userId, movieId"
    ):
        read_titles(tmp_path / "ratings.csv")


def test_a_long_title_is_also_looked_for_in_the_other_number():
    words = {variant.words for variant in variants(parse(1, "Planet of the Apes (1968)"), Lexicon())}
    assert "planet of the ape" in words
    assert "planet of the apess" not in words
    numbered = {variant.words for variant in variants(parse(1, "Blade Runner 2049 (2017)"), Lexicon())}
    assert "blade runner 2049s" not in numbered
