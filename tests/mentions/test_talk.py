"""What the finder reads beyond words: namesakes, series, aliases, lists, domains, scripts, holdings, opinions."""

import json

import polars as pl
import pytest

import recloak
import recloak.mentions
from recloak._cli.main import run
from recloak._core.errors import InputError
from recloak._mentions.domains import domain_named, domains, guess_domain
from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.post_files import titles_from_table
from recloak._mentions.title_finder import find_titles
from recloak._mentions.title_matching import index_titles
from recloak._mentions.titles import parse
from tests.library.small_world import small_ratings
from tests.mentions.labels import FOLDER, judge, labelled, read_titles_of

FILMS = """Lion King, The (1994)|Lion King, The (2019)|Crash (1996)|Crash (2004)|Heat (1995)|Alien (1979)|Aliens (1986)|
Predator (1987)|Thing, The (1982)|Seven (a.k.a. Se7en) (1995)|Fargo (1996)|Terminator 2: Judgment Day (1991)|
Lord of the Rings: The Fellowship of the Ring, The (2001)|Lord of the Rings: The Two Towers, The (2002)|
Lord of the Rings: The Return of the King, The (2003)|
Harry Potter and the Sorcerer's Stone (2001)|Harry Potter and the Chamber of Secrets (2002)|
Harry Potter and the Prisoner of Azkaban (2004)|Inglourious Basterds (2009)|Superhero Movie (2008)|
Good bye, Lenin! (2003)|Kevin Hart: Let Me Explain (2013)|Titanic (1997)|Jaws (1975)"""


@pytest.fixture(scope="module")
def films():
    return index_titles([parse(n, line) for n, line in enumerate(FILMS.replace("\n", "").split("|"))])


def sure(text, index, **given):
    return [str(index.titles[one.title]) for one in find_titles(text, index, **given) if one.tier == "sure"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("took the kids to the new lion king last night", "The Lion King (2019)"),
        ("the original lion king made me cry", "The Lion King (1994)"),
        ("the lion king with beyonce as nala was so flat", "The Lion King (2019)"),
        ("we watched the 90s lion king", "The Lion King (1994)"),
        ("cronenberg's crash is a strange movie", "Crash (1996)"),
        ("I watched Crash with Sandra Bullock", "Crash (2004)"),
        ("have you seen The Lion King? the new one, I mean", "The Lion King (2019)"),
        ("I watched Crash last night, what a film", "Crash (2004)"),
    ],
)
def test_words_near_by_tell_which_film_of_a_name_is_meant(text, meant, films):
    assert meant in sure(text, films)


def test_the_date_of_a_post_rules_out_what_came_later_and_favours_what_was_new(films):
    text = "I saw The Lion King at the cinema, what a film"
    assert sure(text, films, posted=1995) == ["The Lion King (1994)"]
    assert sure(text, films, posted=2019) == ["The Lion King (2019)"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("T2 is the best sequel ever made", "Terminator 2: Judgment Day (1991)"),
        ("harry potter 3 is the best film of them", "Harry Potter and the Prisoner of Azkaban (2004)"),
        ("inglorious basterds has the best opening scene", "Inglourious Basterds (2009)"),
        ("LOTR marathon: watched lotr 2 last night", "The Lord of the Rings: The Two Towers (2002)"),
    ],
)
def test_short_names_and_numbers_of_a_series_are_read(text, meant, films):
    assert meant in [str(films.titles[one.title]) for one in find_titles(text, films)]


def test_the_number_of_the_next_item_is_not_that_of_a_sequel():
    titles = ["Dark Souls (2011)", "Dark Souls 2 (2014)", "Sekiro (2019)"]
    index = index_titles([parse(n, line) for n, line in enumerate(titles)], domain=domain_named("games"))
    assert sure("1. dark souls 2. sekiro", index) == ["Dark Souls (2011)", "Sekiro (2019)"]
    assert sure("replayed dark souls 2. what a game", index) == ["Dark Souls 2 (2014)"]


def test_books_put_together_are_those_that_they_are_made_of():
    titles = ["A Game of Thrones / A Clash of Kings", "A Game of Thrones", "A Clash of Kings", "Either / Or"]
    index = index_titles([parse(n, line) for n, line in enumerate(titles)], domain=domain_named("books"))
    assert sure("read a game of thrones, a clash of kings this summer", index) == titles[1:3]
    assert sure("I finally read Either/Or by Kierkegaard", index) == titles[3:]


def test_the_first_name_of_who_made_it_is_enough_after_by():
    rows = {"id": [1, 2], "title": ["Happy", "Stay"], "artist": ["Pharrell Williams", "Rihanna"]}
    index = index_titles(titles_from_table(pl.DataFrame(rows)).titles, domain=domain_named("music"))
    assert sure("Happy by Pharrell is banned in my office now", index) == ["Happy"]
    assert sure("Happy by the end of the week", index) == []


def test_small_words_with_capitals_inside_a_sentence_are_a_title():
    index = index_titles([parse(1, "At Last")], domain=domain_named("music"))
    assert sure("We danced to At Last at our wedding", index) == ["At Last"]
    assert sure("We danced and at last it rained", index) == []


def test_a_number_in_letters_that_goes_on_is_no_part_of_a_title():
    index = index_titles([parse(1, "Slay the Spire")], domain=domain_named("games"))
    assert sure("Slay the Spire one more run. it is 3 am", index) == ["Slay the Spire"]


def test_a_title_without_its_article_is_no_thing_that_is_described():
    index = index_titles([parse(1, "The Historian")], domain=domain_named("books"))
    assert sure("this book is pop history at best, ask an actual historian", index) == []
    assert sure("finished the historian last night", index) == ["The Historian"]


def test_inline_lists_are_read_item_by_item(films):
    assert sure("1) se7en 2) fargo 3) heat", films) == ["Seven (1995)", "Fargo (1996)", "Heat (1995)"]
    listed = ["Alien (1979)", "Aliens (1986)", "Predator (1987)", "The Thing (1982)"]
    assert sure("favs: alien, aliens, predator, the thing", films) == listed


@pytest.mark.parametrize("text", ["good bye everyone", "kevin hart is so funny", "i love a dumb superhero movie"])
def test_phrases_people_and_kinds_are_no_sure_finds(text, films):
    assert sure(text, films) == []


def test_a_title_without_known_popularity_is_neither_popular_nor_unpopular():
    titles = [parse(1, "Heat (1995)"), parse(2, "Zyx (2021)"), parse(3, "Drift (2021)")]
    text = "we watched drift last night"
    plain, rated = index_titles(titles), index_titles(titles, popularity={1: 100.0, 2: 1.0})
    assert [one.confidence for one in find_titles(text, plain)] == [one.confidence for one in find_titles(text, rated)]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("I've never seen Jaws", False),
        ("haven't watched titanic yet", False),
        ("want to watch jaws tonight", False),
        ("have you seen titanic?", False),
        ("I watched Jaws again", True),
        ("didn't see titanic until last year and loved it", True),
        ("Jaws is great", True),
    ],
)
def test_what_the_writer_has_not_seen_is_a_mention_but_no_holding(text, held, films):
    (found,) = find_titles(text, films)
    assert found.held is held


def test_the_labelled_holdings_are_told_mostly_right():
    right = total = 0
    indexes = {}
    for post in (post for part in ("tune", "held") for post in labelled(part) if post.films):
        if post.catalogue not in indexes:
            name = post.catalogue if post.catalogue in domains() else "films"
            indexes[post.catalogue] = index_titles(read_titles_of(post.catalogue), domain=domain_named(name))
        index = indexes[post.catalogue]
        for one in find_titles(post.text, index):
            hits, _, _ = judge(post, [one], index.titles)
            total += len(hits)
            right += sum((film not in post.unheld) == one.held for film in hits)
    assert right / total >= 0.95, (right, total)


def test_a_mention_that_is_no_holding_does_not_count_in_an_attack():
    ratings = recloak.read(small_ratings())
    user, item = ratings.user_ids.ids[0], ratings.item_ids.ids[0]
    table = pl.DataFrame({"user": [user, user], "item": [item, ratings.item_ids.ids[1]], "held": [True, False]})
    assert read_mentions(table, ratings).n_mentions == 1


@pytest.mark.parametrize(
    ("text", "opinion"),
    [("Jaws 9/10", 0.8), ("Titanic (1997) 2/10", -0.6), ("I loved Jaws", 0.7), ("Jaws is not good", -0.7)],
)
def test_an_opinion_is_read_from_a_score_or_from_words(text, opinion, films):
    (found,) = find_titles(text, films)
    assert found.opinion == pytest.approx(opinion)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("what about jaws?", "Jaws (1975)"),
        ("i put heat on last night", "Heat (1995)"),
        ("fargo is on netflix again", "Fargo (1996)"),
        ("alien, predator and fargo - heat films", None),
        ("a new season of titanic starts soon", None),
    ],
)
def test_what_stands_around_a_title_speaks_for_or_against_it(text, meant, films):
    if meant:
        assert meant in [str(films.titles[one.title]) for one in find_titles(text, films)]
    else:
        assert not {"Heat (1995)", "Titanic (1997)"} & set(sure(text, films))


def test_no_opinion_is_read_where_there_is_none(films):
    (found,) = find_titles("Jaws was on TV", films)
    assert found.opinion is None


def test_words_of_reading_speak_for_a_book_and_against_a_film():
    titles = [parse(1, "Persuasion"), parse(2, "Emma")]
    text = "I'm reading persuasion for the third time"
    book, film = (index_titles(titles, domain=domain_named(name)) for name in ("books", "films"))
    assert sure(text, book) == ["Persuasion"]
    assert sure(text, film) == []


def test_the_domain_is_guessed_from_a_column_or_from_the_posts():
    assert guess_domain(["book_id", "title", "authors"], []).name == "books"
    assert guess_domain(["id", "title"], ["the best album of the year", "that guitar riff", "a movie"]).name == "music"
    assert guess_domain(["id", "title"], []).name == "films"


def test_an_author_named_near_by_speaks_for_the_book():
    titles = titles_from_table(
        pl.DataFrame({"id": [1, 2], "title": ["Misery", "Wild"], "authors": ["Stephen King", "Cheryl Strayed"]})
    )
    index = index_titles(titles.titles, domain=domain_named("books"))
    assert sure("stephen king's misery kept me up", index) == ["Misery"]
    assert sure("his misery kept me up", index) == []


@pytest.mark.parametrize("part", ["tune", "held"])
def test_other_scripts_are_read(part):
    posts = [post for post in labelled(part) if post.catalogue == "scripts"]
    index = index_titles(read_titles_of("scripts"))
    found = [judge(post, find_titles(post.text, index), index.titles) for post in posts]
    assert sum(len(right) for right, _, _ in found) >= 0.8 * sum(len(post.films) for post in posts)
    assert sum(len(wrong) for _, wrong, _ in found) <= 1


def test_the_command_takes_a_domain_and_aliases(tmp_path, capsys):
    (tmp_path / "posts.txt").write_text("started the big blue one last night\nnothing here\n")
    (tmp_path / "titles.csv").write_text("id,title,authors\n7,Middlemarch,George Eliot\n")
    (tmp_path / "aliases.csv").write_text("alias,item\nthe big blue one,7\n")
    command = ["mentions", "find", str(tmp_path / "posts.txt"), "--titles", str(tmp_path / "titles.csv"), "--json"]
    assert run([*command, "--aliases", str(tmp_path / "aliases.csv")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["domain"], told["sure"] + told["possible"], told["not_held"]) == ("books", 1, 0)
    assert run([*command, "--domain", "games"]) == 0
    assert json.loads(capsys.readouterr().out)["domain"] == "games"


def test_aliases_without_their_columns_and_unknown_domains_are_refused():
    with pytest.raises(InputError, match="aliases need a column"):
        recloak.mentions.find(["x"], FOLDER / "books.csv", aliases=pl.DataFrame({"a": ["x"]}))
    with pytest.raises(InputError, match="domain must be one of films, books"):
        recloak.mentions.find(["x"], FOLDER / "books.csv", domain="plays")
