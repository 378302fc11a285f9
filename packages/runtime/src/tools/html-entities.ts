/** The named characters that pages really use; an unknown name stays as it was written. */
const named: ReadonlyMap<string, string> = new Map(
  (
    "amp & lt < gt > quot \" apos ' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ " +
    "laquo « raquo » lsaquo ‹ rsaquo › bull • middot · times × divide ÷ plusmn ± minus − deg ° prime ′ Prime ″ euro € pound £ yen ¥ cent ¢ " +
    "sect § para ¶ dagger † Dagger ‡ permil ‰ micro µ frac12 ½ frac14 ¼ frac34 ¾ sup1 ¹ sup2 ² sup3 ³ ordf ª ordm º iexcl ¡ iquest ¿ " +
    "larr ← uarr ↑ rarr → darr ↓ harr ↔ lArr ⇐ rArr ⇒ hArr ⇔ infin ∞ ne ≠ le ≤ ge ≥ asymp ≈ equiv ≡ sum ∑ prod ∏ radic √ part ∂ int ∫ " +
    "forall ∀ exist ∃ empty ∅ isin ∈ notin ∉ cap ∩ cup ∪ sub ⊂ sup ⊃ and ∧ or ∨ not ¬ check ✓ star ☆ hearts ♥ " +
    "alpha α beta β gamma γ delta δ epsilon ε lambda λ mu μ pi π rho ρ sigma σ tau τ phi φ omega ω Delta Δ Sigma Σ Omega Ω " +
    "agrave à aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï " +
    "ntilde ñ ograve ò oacute ó ocirc ô otilde õ ouml ö oslash ø ugrave ù uacute ú ucirc û uuml ü yacute ý yuml ÿ szlig ß oelig œ scaron š " +
    "Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë Ntilde Ñ Oacute Ó Ouml Ö Oslash Ø " +
    "Uacute Ú Uuml Ü lbrace { rbrace } lbrack [ rbrack ] lpar ( rpar ) num # sol / bsol \\ lowbar _ grave ` verbar | ast * plus + equals = colon : " +
    "semi ; comma , period . excl ! quest ? commat @ dollar $ percnt %"
  )
    .split(" ")
    .flatMap((name, index, all) => (index % 2 === 0 ? [[name, all[index + 1] ?? ""] as const] : [])),
);

const invisible: ReadonlyMap<string, string> = new Map([
  ["nbsp", " "],
  ["ensp", " "],
  ["emsp", " "],
  ["thinsp", " "],
  ["Tab", "\t"],
  ["NewLine", "\n"],
  ["shy", ""],
  ["zwj", ""],
  ["zwnj", ""],
]);

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]{1,15}));?/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? invisible.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
  });
}
