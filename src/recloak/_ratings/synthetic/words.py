"""The words that made-up titles are put together from."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words("""
    Lantern River Orchard Harbour Mirror Winter Ferry Letter Garden Stranger Castle Engine Feather Shadow
    Clockmaker Lighthouse Violin Cathedral Horizon Compass Tiger Sparrow Wolf Heron Fox Raven Bridge Tower
    Island Desert Glacier Meadow Canyon Forest Valley Storm Thunder Ember Candle Ashes Dust Salt Honey Silver
    Copper Marble Paper Glass Velvet Thread Needle Anchor Sail Voyage Passage Journey Parade Carnival Circus
    Waltz Lullaby Ballad Symphony Whisper Echo Secret Promise Bargain Debt Wager Verdict Witness Alibi Ransom
    Heist Pursuit Escape Exile Return Reunion Wedding Funeral Inheritance Daughter Brother Widow Orphan Soldier
    Captain Sailor Doctor Teacher Butcher Baker Thief Gambler Dancer Painter Poet Pilot Detective Magician
    Prophet Beekeeper Cartographer Locksmith Gardener Fisherman Kingdom Empire Republic Village Station Motel
    Diner Hotel Library Museum Attic Cellar Window Door Staircase Balcony Kitchen Table Suitcase Umbrella
    Telephone Photograph Diary Map Key Ring Crown Sword Arrow Bullet Cannon Rocket Comet Moon Eclipse Midnight
    Dawn Twilight Tuesday September Autumn Summer Monsoon Tide Reef Whale Salmon Moth Butterfly Hornet Spider
    Serpent Dragon Phantom Ghost Angel Demon Machine Android Signal Code Virus Laboratory Planet Galaxy Colony
    Outpost Frontier Ranch Saddle Canvas Pearl Emerald Sapphire Labyrinth Riddle Cipher Masquerade
""")
ADJECTIVES = _words("""
    Last First Broken Hidden Silent Burning Frozen Golden Crimson Pale Dark Bright Lost Forgotten Stolen
    Borrowed Second Seventh Thirteenth Crooked Hollow Restless Sleepless Reckless Gentle Savage Quiet Loud
    Distant Foreign Northern Southern Eastern Western Endless Bitter Sweet Wicked Holy Perfect Ordinary
    Invisible Impossible Lonely Drunken Blind Barefoot Electric Atomic Mechanical Painted Paper Wooden Iron
    Glass Scarlet Emerald Violet Grey Black White Red Blue Wild Tame Honest Crazy Merry Mournful Midnight Secret
    Public Private Royal Common Little Great Long Short Slow Sudden Final Early Late Older Younger Dead Living
    Unfinished Unforgiven Untold Uninvited Accidental Reluctant
""")
NAMES = _words("""
    Arthur Beatrix Cornelius Delia Edmund Fiona Gideon Harriet Isidore Josephine Kasimir Lavinia Marcus Nadia
    Otto Penelope Quentin Rosalind Silas Tabitha Ulrich Vera Walter Xenia Yolanda Zachary Amos Bella Clement
    Dorothea Elias Flora Gustav Henrietta Ivan Judith Konrad Lydia Milo Nora Oscar Petra Rufus Sabina Tobias
    Ursula Viktor Wilma
""")
PLACES = _words("""
    Antwerp Lisbon Tangier Odessa Vienna Prague Havana Shanghai Calcutta Marrakesh Reykjavik Montreal Chicago
    Memphis Savannah Brooklyn Tucson Alaska Patagonia Siberia Sicily Corsica Brittany Galway Glasgow Bombay
    Kyoto Manila Saigon Cairo Nairobi Zanzibar Casablanca Valparaiso Veracruz Trieste Salzburg Krakow Riga
    Tallinn Helsinki Bergen
""")
DOINGS = _words("""
    Chasing Finding Losing Saving Waking Burying Stealing Breaking Crossing Leaving Loving Raising Killing
    Forgiving Remembering Following Painting Hunting Feeding Trusting Waiting-for Searching-for Running-from
    Singing-to
""")
NUMBERS = ("Two", "Three", "Four", "Five", "Six", "Seven", "Nine", "Ten", "Twelve", "Forty", "A Hundred", "A Thousand")
