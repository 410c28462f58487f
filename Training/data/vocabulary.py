"""Words, labels and voices with a meaning of their own in the data."""

# The words that fire by default, and the two labels that never do.
COMMANDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
UNKNOWN, SILENCE = "_unknown_", "_silence_"
# The output of several people who talk at once. Its label is UNKNOWN, but no clip shift applies to it.
BABBLE = "babble"

# Words that sound like a command: no network can tell them apart, so they are neither trained on nor a false accept. "Onword" is a
# name in telephone speech that begins with all of the command.
SOUNDS_LIKE = {"know": "no", "write": "right", "rite": "right", "wright": "right", "onword": "on"}


def says(commands, text):
    """Whether a transcript holds one of the commands, or a word that sounds like one."""
    return any(word in commands or SOUNDS_LIKE.get(word) in commands for word in text.split())


# Words kept out of all training: they measure what happens to words that the network has never met.
HELD_OUT = ("marvin", "sheila", "wow", "snowboy")
# Words that the embedding for taught words is judged on besides, and so never trained on.
JUDGES = (
    *("athena", "amelia", "computer", "smart_mirror", "mirrors", "heycomputer", "smart mirror"),
    *("onword", "operator", "thinkengine", "voyager", "wildfire", "wildfires"),
)
# Labels that stand for recordings of many different words.
SYNTHETIC = "synthetic"
UNSORTED = "honk_random"
MANY_WORDS = (UNSORTED, SYNTHETIC, "not-wake-words")
# The dataset's own background recordings, and the share of each, from its start, that is used for training.
BACKGROUND, BACKGROUND_SHARE = "gsc", 0.85

# The label of recordings of music, which are noise.
MUSIC = "music"
# Neural voices: those in the training data, and those kept for measurements.
TRAINING_VOICES, HELD_OUT_VOICES = ("heart", "blend"), ("joe",)

# Words that differ from a command by a sound or two or contain one, and frequent words of everyday commands.
NEAR_WORDS = """
yet yell yen yesterday guess chess less mess dress west jazz yeah now node note nose nope own gnome snow low show knew
new none nor oh cup pup but up-end upper uptown hub tub sup jump app op hop pop pup puff town done dawn don gown drown noun
crown around brown found dumb dun drawn lift leaf lefty laugh lept let lend less loft theft cleft deft bereft leather ride
rife rate rye rice rise lied light bright fright trite might white wrote route front frown runt ron one won own an in
and awe arm aunt lawn long john gone dawn off-hand of oft often office offer cough soft loss awful alf stoop stock stomp step
stab star start stove stuff top tops shop chop drop slop spot soap stone storm gold goal goat ghost god good grow toe though
hello hi hey please thanks open close play pause next back front rear side center centre middle bottom high higher volume
music light lights lamp door window kitchen robot computer forward backward turn move follow wait help home house cancel
""".split()
# Words that earlier networks took for a command in running speech.
CONFUSED_WORDS = """
alright noon never staff town veracity bright found still steel style stone snow though ago gone upon along among
another nothing number until apple upper couple supper stopped shopping downtown sound round ground yesterday guest best
left-hand lift elevate delve eleven leftover rightly writing righteous tonight tonic on-line own only over okay goat gore gaunt
cough often awful author offer off-white no-one known snows noted yelp yellow jest
""".split()
