/** Words and signs of streets in the member states. The tables are in Latin letters, the patterns are for latinized texts. */

/** One line is one kind of street; the first word names it. A lone letter is dropped, but is no evidence of a kind. */
const TYPES = [
  'street st str strasse straat strada ul ulica ulice ulitsa calle cl rue rua via gatan gata utca odos triq trejqa iela gatve tanav tn c r g u v dimosios',
  'avenue av ave avda avd avenida leoforos leof lewf prospekt prospektas prospekts trida tr',
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
  'ring korut krt',
  'largo lgo lg',
  'paseo po promenade',
  'puiestee pst',
].map((line) => line.split(' '));
export const TYPE_OF: ReadonlyMap<string, string> = new Map(
  TYPES.flatMap(([type = '', ...others]) => [type, ...others].map((word) => [word, type] as const)),
);
/** The kind that most words for a street mean. */
export const GENERAL = 'street';

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
export const TITLE_OF: ReadonlyMap<string, string> = new Map(
  TITLES.flatMap(([title = '', ...others]) => others.map((word) => [word, title] as const)),
);

/** Words that distinguish no streets: number signs, articles, words for a building. */
export const NOISE: ReadonlySet<string> = new Set(
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
/** A floor, door or unit before its number; its group is the number. */
export const UNIT = new RegExp(`\\b(?:${UNIT_WORDS})\\b\\.?\\s*:?\\s*(${VALUE})\\b`, 'g');
/** The same behind a house number. */
export const SHORT_UNIT = new RegExp(
  `(?<=\\d[a-z]?[\\s,./-]+(?:.*[\\s,])?)\\b(?:${SHORT_UNIT_WORDS})\\b\\.?\\s*(\\d+\\s?[a-z]?|[a-z])\\b`,
  'g',
);
/** The same behind its number. */
export const UNIT_AFTER =
  /\b(\d+|[ivx]+)\s?\.?\s?(?:st|nd|rd|th|er|eme|e|o|a)?\.?\s*(?:floor|stock|stk|og|obergeschoss|etage|etg|piso|planta|andar|emelet|em|krs|patro|poschodie|pietro|etazh|orofos|stiege|sal)\b\.?/g;
export const BOX =
  /\b(?:p\.?\s?o\.?\s?box|po box|postfach|postbus|boite postale|bp|b\.p\.|cs|apartado(?: de correos)?|apdo\.?|casella postale|skr(?:ytka|\.)? poczt(?:owa|\.)?|box|pb|p\.b\.|tax\.? ?thyr(?:ida|\.)?|t\.th\.)\s*\.?\s*(\d[\d\s]*)\b/g;
/** Hungarian floor and door: "12. II/3". */
export const ROMAN_FLOOR = /(?<=\d\.?,?\s)\b([ivx]+)\s?[./]\s?\d+\b\.?/g;
/** Danish floor and side: "3. tv." */
export const FLOOR_AND_SIDE = /\b(\d+)\.\s?(?:sal\.?\s?)?(?:tv|th|mf)\b\.?/g;
/** A house number with letter, range or parts. */
export const NUMBER =
  /\d+\s?(?:(?:bis|ter|quater)\b|[a-z](?![a-z\d.]))?(?:\s*[-/+]\s*(?:\d+\s?[a-z]?(?![a-z])|[a-z](?![a-z\d])|[ivx]+(?![a-z])))*/g;

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
/** A street with those in words; the spelling of the rest stays. */
export const replaceSigns = (text: string): string =>
  SIGNS.reduce((spelt, [sign, word]) => spelt.replace(sign, word), text);
