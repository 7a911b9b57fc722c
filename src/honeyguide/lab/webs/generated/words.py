"""The words of the generated web that people read: topic words, everyday words, sentence patterns.

All written for this project. Every topic has about fifty nouns of its own; invented nouns from the
seed are added to them in `vocabulary`. Three pairs of topics are close to each other on purpose
(letterpress and bookbinding, alpine plants and beekeeping, tidal energy and seaweed).
"""

from __future__ import annotations


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOPICS: dict[str, str] = {
    "beekeeping": """beekeeping hive honey apiary queen brood nectar pollen swarm beekeeper comb smoker
        frame propolis drone worker varroa mite foundation super skep wax forager colony nurse requeening
        honeycomb clover lime heather extractor uncapping veil bees apiarist mead entrance winter cluster
        syrup feeder robbing excluder royal jelly larva cell waggle dance blossom hiveware""",
    "tidal energy": """tidal turbine tide energy estuary barrage lagoon current rotor blade seabed mooring
        generator nacelle stream flow marine power grid cable converter ebb flood spring neap sluice gate
        headland strait harbour biofouling corrosion pitch yaw hydrofoil kite array wake turbulence sonar
        anchor subsea pontoon megawatt capacity lunar survey bathymetry resource foundation monopile""",
    "letterpress": """letterpress type printing platen ink composing forme chase galley proof press typeface
        serif kerning ligature sorts compositor stick quoin furniture leading roller tympan gauge impression
        bodkin tray case punch matrix foundry broadside woodcut linocut registration packing makeready
        cylinder treadle lockup imposition stone brayer wood ornament dingbat point pica deckle""",
    "alpine plants": """alpine gentian saxifrage edelweiss scree moraine rosette cushion meadow snowmelt
        treeline summit lichen moss crevice campanula primula sempervivum androsace soldanella ridge talus
        rootstock seed germination stratification trough tufa gravel rhizome pollinator bloom petal sepal
        leaf bract herbarium altitude frost endemic flora botanist clematis aster poppy willow heath""",
    "sourdough": """sourdough starter levain dough crumb crust flour hydration proofing banneton lame scoring
        oven steam gluten rye spelt wheat fermentation autolyse folding shaping bulk leaven yeast lactic
        acid loaf boule baguette bakery baker miller grain bran poolish salt tang blister ear spring dutch
        bench scraper couche peel retarding discard crackle ferment toast""",
    "stargazing": """stargazing telescope nebula galaxy eyepiece constellation meteor comet planet moon
        aperture refractor reflector dobsonian mount tripod finder saturn jupiter orion andromeda cluster
        supernova eclipse occultation zenith horizon ecliptic magnitude darkness airglow aurora binoculars
        starlight mirror collimation filter barlow astronomer observatory dome transit asteroid parallax
        sidereal pole declination ascension messier""",
    "caving": """caving cave cavern stalactite stalagmite karst limestone sump pothole shaft abseil rope
        headlamp carbide squeeze crawl chamber flowstone gypsum calcite bat streamway dig doline sinkhole
        resurgence speleology caver survey helmet harness descender ascender bolt rebelay pitch passage
        boulder choke draught mud oversuit grotto column straw helictite guano cairn""",
    "bookbinding": """bookbinding binding spine signature endpaper leather vellum parchment awl thread
        sewing linen glue paste board headband casing gilding tooling foil bone folder quire folio quarto
        octavo marbling paper guillotine press nipping joint hinge raised band buckram goatskin paring
        knife slipcase clamshell conservation rebinding binder bookcloth stitch coptic kettle gutter""",
    "seaweed": """seaweed kelp algae dulse nori wrack frond holdfast stipe harvest shore rockpool carrageen
        agar alginate iodine wakame laver drying foraging spore gametophyte hatchery longline raft buoy
        tidepool bladder thallus ulva sargassum fucus saltwater nutrient mulch fertiliser broth bay reef
        seabed urchin kelpbed forest cove intertidal swell mariculture phycology blade""",
    "chess problems": """chess problem mate knight bishop rook pawn queen king castling checkmate stalemate
        zugzwang endgame study helpmate selfmate twomover threemover composer solver theme key variation
        board square diagonal file rank pin battery interference promotion underpromotion sacrifice tempo
        retrograde fairy grasshopper stipulation dual cook tourney judge award album diagram notation""",
}
"""Names of the default topics with their written words; the first eight are the topic's keywords."""

EVERYDAY: dict[str, str] = {
    "travel": """travel hotel flight airport ticket luggage passport beach resort tour guide museum train
        station itinerary booking visa cruise souvenir map suitcase hostel border ferry landmark""",
    "sport": """sport football league match team goal coach player stadium referee season transfer cup
        striker keeper fixture training tackle derby penalty fans score captain injury final""",
    "shopping": """shopping price discount sale cart delivery order brand store voucher refund stock
        wardrobe jacket shoes sofa kitchen lamp checkout parcel warranty catalogue gift bargain receipt""",
    "town news": """town news council mayor road school election budget police library bus bridge hospital
        committee vote traffic market street festival planning resident housing bin park station""",
}
"""Background themes: what most of the generated web is about. Never on topic."""

GENERAL = _listed("""
    people morning evening week year house garden friend family story question answer idea plan
    group member visitor neighbour picture note list page letter phone table window door corner summer
    autumn village city country river hill path tool box bag colour light sound weather rain wind hour
    price money office work project team report number result example lesson teacher student course guide
    beginner expert hobby club society meeting workshop weekend holiday shop room wall floor paper pencil
    cup plate hand voice reason problem change start end part piece side level order kind""")
"""Nouns that any page may use."""

VERBS = _listed("""
    keeps brings needs shows follows meets holds finds helps moves turns makes leaves reaches joins
    covers changes opens fills carries marks saves starts suits guides supports replaces explains improves
    protects""")

ADJECTIVES = _listed("""
    small old quiet simple early late good common careful long warm cold local large fine plain
    steady strong second first useful rare bright heavy gentle proper""")

OPENERS = (
    "The {t} {v} the {t} after a {a} {g}",
    "A {a} {t} often {v} the {g}",
    "Every {g} with a {t} {v} some {t}",
    "In our {g} the {t} {v} a {a} {t}",
    "Most of the {t} and the {t} {v} the {g}",
    "When the {g} {v} the {t}",
    "With a {a} {g} the {t} {v} the {t}",
    "This {t} {v} what the {t} left to the {g}",
    "Nobody at the {g} {v} a {t} without {t}",
    "Before the {g} the {t} {v} its {a} {t}",
)
CLOSERS = (
    ", and the {t} {v} the {g} from there.",
    " while a {a} {t} {v} the {g}.",
    ", because no {t} {v} the {t} for a {g}.",
    " and that is how a {t} becomes a {a} {t}.",
    ", so keep the {t} near the {g}.",
    ", which {v} the {a} {g} of the {t}.",
    " until the {t} of the {g} {v} another {t}.",
    ", though some prefer {t} to a {a} {g}.",
)

SYLLABLES = _listed("""
    ba be bo bra bri ca ce cla cor da del dor fa fen fi fla ga gel gri ha hel ja jo ka kel kor la
    len lo ma mel mi mor na nel no or pa pel pi pra ra rel ri ro sa sel si ta tel tha to va vel vi wen za
    zel zo""")
ENDINGS = _listed("n r l s m d t th nd rn lt sk nt x")
