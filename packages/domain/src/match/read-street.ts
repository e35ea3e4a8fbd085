import { latinize, spellingOf, type Word, wordsOf } from './fold-text.js';

/** A house number: `12A` is number 12 with letter a, `12-16` reaches to 16, `525/15` has the parts 525 and 15. */
export type HouseNumber = { number: number; last: number; letter: string; parts: readonly string[] };

/** A street in its parts. `types` are kinds of street, such as `street`, `avenue` and `square`. */
export type Street = {
  words: readonly Word[];
  types: ReadonlySet<string>;
  numbers: readonly HouseNumber[];
  /** Floors, doors, units: letters and digits. */
  units: readonly string[];
};

/** One line is one kind of street; the first word names it. A lone letter is dropped, but is no evidence of a kind. */
const TYPES = [
  'street st str strasse straat strada ul ulica ulice ulitsa calle cl rue rua via gatan gata utca odos triq trejqa iela gatve tanav tn c r g u v dimosios',
  'avenue av ave avda avd avenida leoforos leof lewf prospekt prospektas prospekts',
  'alley al aleja aleje alei aleea allee alle all aleya',
  'boulevard bd bld blvd boul bvd bul bulv bulevard bulevardul bulevardi bulevaris bulvar bulvaras',
  'square sq pl place plac plaza plza pza pzza platz plein piazza praca pc namesti namestie nam trg ter plateia plats plads tori piata pta ploshtad pjazza pzale piazzale laukums aikste',
  'road rd route rte cesta carretera ctra chaussee chee steenweg stwg vej vagen vag weg tie maantee mnt sosea soseaua sos ut utja plentas estrada estr shose camino cno chemin ch cam',
  'course corso cso cours',
  'drive dr viale vle',
  'lane ln gasse vicolo ruelle travessa trav side koz',
  'embankment quai quay kade lungomare nabrezi nabrezie rakpart rkp kai',
  'court ct',
  'terrace tce',
  'estate osiedle os sidliste sidlisko zhk zhilishten kompleks lakotelep ltp kvartal kv',
  'boulevardring korut krt ring',
  'largo lgo lg',
  'paseo po promenade',
  'puiestee pst',
].map((line) => line.split(' '));
const TYPE_OF: ReadonlyMap<string, string> = new Map(
  TYPES.flatMap(([type = '', ...others]) => [type, ...others].map((word) => [word, type] as const)),
);
const GENERAL = 'street';

/** Titles in names of streets; the first word stands for the others. */
const TITLES = [
  'burgermeister bgm bm',
  'burgemeester burg',
  'general gal gral gen',
  'marechal mal',
  'president pdt pres',
  'commandant cdt',
  'saint san sant santo',
  'doctor doktor',
].map((line) => line.split(' '));
const TITLE_OF: ReadonlyMap<string, string> = new Map(
  TITLES.flatMap(([title = '', ...others]) => others.map((word) => [word, title] as const)),
);
const canonicalTitle = (word: Word): Word => {
  const title = TITLE_OF.get(spellingOf(word));
  return title === undefined ? word : { spellings: [title, title, title], abbreviated: false };
};

const NOISE = new Set(
  'nr no n l d num numero numer number hausnummer br cislo cp cislp pp nro the de la le les des du del della di da do dos der die das den dem van von of na za im am an zum zur et and und y i e sn km lieu dit building bldg house hse hs budynek bud imm immeuble residence res'.split(
    ' ',
  ),
);

// Floors, doors and units with their number, in the words of the member states. The text is latinized; \b keeps "app" out of "apple".
const UNIT_WORDS =
  'unit|suite|ste|apt|apartment|apartament|flat|floor|office|room|rm|door|top|tuer|tur|stiege|stg|stock|stk|og|wohnung|whg|etage|etg|obergeschoss|bus|bte|boite|app|appt|appartement|bat|batiment|esc|escalier|escalera|hall|lot|porte|piso|planta|puerta|pta|local|oficina|ofic|nave|bloque|andar|fraccao|sala|loja|esq|dto|int|interno|scala|piano|lok|lokal|mieszk|mieszkanie|pietro|emelet|em|ajto|fszt|kom|etaj|etj|apart|bloc|scara|vchod|byt|patro|poschodie|etazh|vhod|ofis|orofos|diamerisma|grafeio|krs|as|huoneisto|lgh|vaning|dz|dzivoklis|stavs|korter|krt|butas|kab|kabinets|entrance|block|blok|level|lvl|kat|stan';
/** Short words for units, which are units only behind a house number. */
const SHORT_UNIT_WORDS = 'm|p|k|ap|ep|et|sc|bl|an|of|or|th|tv|mf|tr|sal|d|dt|b|fl|vh|esc|pt|a';
const VALUE = '(?:no\\.?|nr\\.?|n\\.?)?\\s*(?:\\d+\\s?[a-z]?|[ivx]+|[a-z])';
const UNIT = new RegExp(`\\b(?:${UNIT_WORDS})\\b\\.?\\s*:?\\s*(${VALUE})\\b`, 'g');
const SHORT_UNIT = new RegExp(
  `(?<=\\d[a-z]?[\\s,./-]+(?:.*[\\s,])?)\\b(?:${SHORT_UNIT_WORDS})\\b\\.?\\s*(\\d+\\s?[a-z]?|[a-z])\\b`,
  'g',
);
const UNIT_AFTER =
  /\b(\d+|[ivx]+)\s?\.?\s?(?:st|nd|rd|th|er|eme|e|o|a)?\.?\s*(?:floor|stock|stk|og|obergeschoss|etage|etg|piso|planta|andar|emelet|em|krs|patro|poschodie|pietro|etazh|orofos|stiege|sal)\b\.?/g;
const BOX =
  /\b(?:p\.?\s?o\.?\s?box|po box|postfach|postbus|boite postale|bp|b\.p\.|cs|apartado(?: de correos)?|apdo\.?|casella postale|skr(?:ytka|\.)? poczt(?:owa|\.)?|box|pl|pb|p\.b\.|tax\.? ?thyr(?:ida|\.)?|t\.th\.)\s*\.?\s*(\d[\d\s]*)\b/g;
/** Hungarian floor and door: "12. II/3". */
const ROMAN_FLOOR = /(?<=\d\.?,?\s)\b([ivx]+)\s?[./]\s?\d+\b\.?/g;
/** Danish floor and side: "3. tv." */
const FLOOR_AND_SIDE = /\b(\d+)\.\s?(?:sal\.?\s?)?(?:tv|th|mf)\b\.?/g;
// Number signs, also Hungarian "12." and the Bulgarian and Spanish ones that become "no".
const NUMBER =
  /\d+\s?(?:(?:bis|ter|quater)\b|[a-z](?![a-z\d.]))?(?:\s*[-/+]\s*(?:\d+\s?[a-z]?(?![a-z])|[a-z](?![a-z\d])|[ivx]+(?![a-z])))*/g;

const readNumber = (text: string): HouseNumber => {
  const compact = text.replace(/\s/g, '');
  const parts = compact.split(/[-/+]/).map((part) => part.replace(/^0+(?=\d)/, ''));
  const number = Number.parseInt(parts[0] ?? '', 10);
  const second = Number.parseInt(parts[1] ?? '', 10);
  const isRange = compact.includes('-') && second > number && second - number < 200;
  return { number, last: isRange ? second : number, letter: parts[0]?.replace(/^\d+/, '') ?? '', parts };
};

/** "Hauptstr." is a street with the name "Haupt". */
const SUFFIX = /(?<=.{2})(?:strasse|straat|str)$/;
const withoutSuffix = (word: Word): Word => {
  if (!SUFFIX.test(spellingOf(word))) return word;
  const [first, second, third] = word.spellings;
  return {
    spellings: [first.replace(SUFFIX, ''), second.replace(SUFFIX, ''), third.replace(SUFFIX, '')],
    abbreviated: false,
  };
};

/** Abbreviations with a full stop inside, and number signs, in words. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/(?<!\p{L})(l|d|dell|all|nell|sull)['’](?=\p{L})/giu, '$1 '],
  [/№|n[°º]\s?|#/giu, ' nr '],
  [/(?<=\d)\.?\s?[°ºª]/g, '. piso '],
  [/\bv\.\s?le\b/giu, 'viale'],
  [/\bc\.\s?so\b/giu, 'corso'],
  [/\bp\.\s?z?za\b/giu, 'piazza'],
  [/\bl\.\s?go\b/giu, 'largo'],
  // Initials and one-letter abbreviations stay apart: "Petőfi S. u." is no abbreviation "S.u.".
  [/(?<=(?<!\p{L})\p{L})\.\s+/gu, ' '],
];
const replaceSigns = (text: string): string => SIGNS.reduce((spelt, [sign, word]) => spelt.replace(sign, word), text);

const read = (text: string, unitsApart: boolean): Street => {
  const units: string[] = [];
  const numbers: HouseNumber[] = [];
  const takeUnit = (_: string, value: string): string => {
    units.push(value.replace(/^(?:no|nr|n)\b\.?/, '').replace(/[^a-z\d]/g, ''));
    return ' ';
  };
  const cut = replaceSigns(text.slice(0, 200));
  let latin = latinize(cut).replace(/[–—]/g, '-').replace(/['’]/g, '');
  const boxless = latin.replace(BOX, ' ');
  // A post-office box is the address itself where there is no street beside it.
  if (/[a-z]{3}/.test(boxless.replace(/\b[a-z]{1,2}\b/g, ''))) latin = latin.replace(BOX, takeUnit);
  if (unitsApart)
    latin = latin
      .replace(ROMAN_FLOOR, takeUnit)
      .replace(FLOOR_AND_SIDE, takeUnit)
      .replace(UNIT_AFTER, takeUnit)
      .replace(UNIT, takeUnit)
      .replace(SHORT_UNIT, takeUnit);
  // What is left of the text keeps its original letters, so that every spelling is compared.
  latin.replace(NUMBER, (found) => {
    numbers.push(readNumber(found));
    return ' ';
  });

  const remaining = new Set(wordsOf(latin.replace(NUMBER, ' ')).map(spellingOf));
  const types = new Set<string>();
  const words: Word[] = [];
  for (const word of wordsOf(cut.replace(/\p{N}+/gu, ' '))) {
    const spelling = spellingOf(word);
    if (NOISE.has(spelling) || !remaining.has(spelling)) continue;
    const type = TYPE_OF.get(spelling);
    if (type === undefined) words.push(canonicalTitle(withoutSuffix(word)));
    else if (spelling.length > 1) types.add(type);
    if (type === undefined && SUFFIX.test(spelling)) types.add(GENERAL);
  }
  const names = words.filter((word) => spellingOf(word).length > 1);
  return { words: names.length > 0 ? names : words, types, numbers, units };
};

/** Reads a street with its house number, floor and door. Never throws. */
export const readStreet = (text: string): Street => {
  const street = read(text, true);
  // "Rue de la Porte 5": the word for a door is the name itself.
  return street.words.length === 0 && street.units.length > 0 ? read(text, false) : street;
};
