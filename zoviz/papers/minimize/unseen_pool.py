"""The pool of problems of the study ``unseen``: their names, their halves, and their best known values.

They are the problems of the S2MPJ collection with 2 to 100 variables (default size) and inequality constraints, an
objective, and values at the start that take less than 2 ms. Of variants of one problem, which differ by a number, a
bound or the form of one row, the first by name counts.

``optima`` are the lowest values of points, feasible to 1e-6, that were met off the books: by SLSQP and trust-constr
with exact gradients from the start and four random points, and by any method of the study in its runs without noise.
``zoviz reproduce minimize-unseen-optima --full`` makes the searches again and sets what they reach beside these values,
which the recorded tables were made with.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

NAMES = tuple(
    (
        "HIMMELP2 HIMMELP4 HIMMELP5 HS10 HS11 HS12 HS13 HS14 HS15 HS16 HS17 HS18 HS19 HS20 HS21 HS22 HS23 HS24 "
        "HS57 HS59 HUBFIT LSQFIT ROSEPETAL SIMPLLPA SIMPLLPB SNAKE TWOBARS ZECEVIC2 ZECEVIC3 ZECEVIC4 CB2 CB3 "
        "CHACONN1 CHACONN2 CONGIGMZ DEMYMALO GIGOMEZ1 GIGOMEZ3 HS29 HS30 HS31 HS32 HS33 HS34 HS35 HS35I HS35MOD "
        "HS36 HS37 HS64 HS65 HS66 JANNSON4 KIWCRESC LOOTSMA MAKELA1 MIFFLIN1 MIFFLIN2 MINMAXRB POLAK1 POLAK4 "
        "POLAK5 READING4 SPIRAL STANCMIN TFI2 TFI3 WOMFLET ZY2 BIGGSC4 FLETCHER HATFLDH HS43 HS44 HS44NEW HS71 "
        "HS72 HS73 HS74 HS75 HS76 HS76I CSFI1 CSFI2 EXPFITA EXPFITB HS268 HS83 HS84 HS86 MADSSCHJ ROSENMMX S268 "
        "HS93 HS95 HS96 HS97 HS98 JANNSON3 SYNTHES1 DIPIGRI HS100MOD HS102 HS103 HS21MOD LUKVLI12 S365 S365MOD "
        "AVGASA AVGASB LUKVLI13 LUKVLI14 MISTAKE SCW1 HS114 LUKVLI7 VANDERM1 VANDERM2 VANDERM3 VANDERM4 POLAK2 "
        "ROSEPETAL2 TRUSPYR1 TRUSPYR2 MANNE HS118 ERRINBAR TENBARS1 TENBARS4 RES MAKELA4 SCW2 BLOCKQP1 BLOCKQP2 "
        "BLOCKQP3 COSHFUN TRO3X3 MOSARQP1 MOSARQP2 MESH TRO6X2 GOFFIN LISWET9 LISWET1 LISWET10 LISWET11 LISWET12 "
        "LISWET2 LISWET3 LISWET4 LISWET5 LISWET6 LISWET7 LISWET8 TRO4X4 QPCBLEND QPBAND "
    ).split()
)
"""The collection's names, by the number of variables."""
VARIANTS = (
    "AVGASA AVGASB", "BLOCKQP1 BLOCKQP2 BLOCKQP3", "CB2 CB3 CHACONN1 CHACONN2", "CSFI1 CSFI2", "EXPFITA EXPFITB",
    "GIGOMEZ1 GIGOMEZ3", "HIMMELP2 HIMMELP4 HIMMELP5", "HS102 HS103", "HS21 HS21MOD", "HS268 S268",
    "HS35 HS35I HS35MOD",
    "HS44 HS44NEW", "HS74 HS75", "HS76 HS76I", "HS95 HS96 HS97 HS98", "HUBFIT LSQFIT", "DIPIGRI HS100MOD",
    "LISWET1 LISWET2 LISWET3 LISWET4 LISWET5 LISWET6 LISWET7 LISWET8 LISWET9 LISWET10 LISWET11 LISWET12",
    "MOSARQP1 MOSARQP2", "ROSEPETAL ROSEPETAL2", "S365 S365MOD", "SCW1 SCW2", "SIMPLLPA SIMPLLPB", "TENBARS1 TENBARS4",
    "TFI2 TFI3", "TRO3X3 TRO4X4 TRO6X2", "TRUSPYR1 TRUSPYR2", "VANDERM1 VANDERM2 VANDERM3 VANDERM4",
    "ZECEVIC2 ZECEVIC3 ZECEVIC4",
)  # fmt: skip
"""Names of one problem's variants."""
SEED = 20261122
"""Of the halves; fixed before any method was run on them."""


def distinct() -> list[str]:
    """Return the names of the problems, the first by name alone of those that are variants of one problem."""
    variants = {name for group in VARIANTS for name in group.split()[1:]}
    return [name for name in NAMES if name not in variants]


def halves() -> dict[str, list[str]]:
    """Return the problems' names in two random halves: "development", on which rules may be made, and "reporting"."""
    names = sorted(distinct())
    order = np.random.default_rng(SEED).permutation(len(names))
    middle = (len(names) + 1) // 2
    return {
        "development": [names[i] for i in order[:middle]],
        "reporting": [names[i] for i in order[middle:]],
    }


def optima() -> dict[str, float]:
    """Return the best known values, by name; problems without one are left out of tables."""
    text = Path(__file__).with_name("unseen_optima.json").read_text(encoding="utf-8")
    return {str(name): float(value) for name, value in json.loads(text).items()}
