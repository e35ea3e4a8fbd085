import { spellingOf, type Word } from './fold-text.js';

const wordSet = (...lines: string[]): ReadonlySet<string> => new Set(lines.flatMap((line) => line.split(' ')));

/** Words for "and"; they are written `and`, like `&` and `+`. */
const CONNECTIVES = wordSet('and und et og och oraz kai es a e y i si ir ja un en in');
/** The connectives that are nothing else in any language of a member state. */
const PLAIN_CONNECTIVES = wordSet('and und et og och oraz kai');

/** One line is one word: the first spelling stands for the others. */
const SYNONYMS = [
  'brothers bros',
  'hermanos hnos hno',
  'gebruder gebr gebrueder gebroeders gebroeder',
  'fratelli flli fratelli',
  'freres fres',
  'sohne soehne soehn',
  'sohn soh',
  'gesellschaft ges',
  'handelsgesellschaft handelsges',
  'international intl internat',
  'company co compagnie cie comp compania cia companhia compagnia',
  'societe soc societa sociedad sociedade spolecnost spolka societatea drustvo druzba',
  'etablissements ets etablissement',
  'association assoc ass',
  'associates assocs',
  'saint st sankt sint san',
  'sainte ste',
  'manufacturing mfg',
  'engineering engng eng',
  'services svcs',
  'technologies technology tech techn',
  'management mgmt mgt',
  'department dept',
  'university univ',
  'doctor dr',
  'engineer ing',
  'number nr no',
  'przedsiebiorstwo p przeds przedsieb',
  'handlowo handl',
  'produkcyjno prod',
  'group grp',
  'deutschland dtl deutschl',
  'industries ind industrie',
  'construction constr',
  'firma fa',
  'agricola agr',
  'adelfoi afoi',
  'vereniging ver',
  'spoldzielnia spoldz',
  'gospodarstwo gosp',
  'szovetkezet szov',
  'bostadsrattsforening bostadsrattsforeningen brf',
].map((line) => line.split(' '));
const CANONICAL = new Map(
  SYNONYMS.flatMap(([first = '', ...others]) => others.map((other) => [other, first] as const)),
);
// One letter is an initial far more often than an abbreviation of a word.
CANONICAL.delete('p');
/** Abbreviations that are names when no full stop follows. */
const WITH_FULL_STOP = new Map([
  ['az', 'azienda'],
  ['cons', 'consorzio'],
]);
/** "Ste" is either: "Ste Dupont" and "Ste Anne". */
const STE: Word = { spellings: ['sainte', 'societe', 'sainte'], abbreviated: false };

/** Articles and prepositions. They add little to a name of several words, but make another surname: "Van Dam" and "Dam". */
const PARTICLES = wordSet(
  'of for de del della dello di da do dos das du des la le les el los las il lo der die das den dem fur fuer von vom zu zur zum',
  'van vd vdr ter ten het een pour par per za pro na do en in un al aan op te l d all nell sull qu company',
);

const SURNAME_PREFIXES = wordSet('van von vom vd vdr ter ten');

/** Words for a company, titles and the like: they add nothing when only one side has them. */
const FILLERS = wordSet(
  'and the firma fa societe etablissements entreprise empresa ditta impresa azienda firm obchodni podnik',
  'doctor engineer mag dipl prof mgr ingenieur inz mr mrs ms mme mlle sr sra don dona sig sigra pan pani herr frau fru magister dkfm bc mudr judr phd mba hc',
  'inhaber inh gerant proprietor prop titular vlasnik vl',
);

/**
 * Trades that belong to the full names of Polish, Slovenian, Croatian and Hungarian companies and are left out of the short
 * ones. Two names with different trades are two companies.
 */
const TRADES = wordSet(
  'przedsiebiorstwo handlowo handlowe handlowa uslugowo uslugowe uslugowa produkcyjno produkcyjne produkcyjna wielobranzowe',
  'phu fhu pphu pph puh zaklad trgovina trgovinu trgovine storitve usluge proizvodnja proizvodnju posredovanje posredovanja',
  'podjetje poduzece drustvo druzba obrt kereskedelmi kereskedo szolgaltato szolgaltatasi gyarto termelo ertekesito',
  'forgalmazo forgalmazasi fejleszto fejlesztesi tanacsado tanacsadasi vallalkozasi epitoipari ipari informatikai tavkozlesi',
  'logisztikai szallitmanyozasi fuvarozo fuvarozasi vendeglato vendeglatoipari ingatlanhasznosito ingatlanforgalmazo',
  'vagyonkezelo beruhazasi mernoki ugynoki kozvetito oktatasi rendezvenyszervezo idegenforgalmi mezogazdasagi',
  'elelmiszeripari gepipari muszaki kulkereskedelmi nagykereskedelmi',
);

/**
 * Words that name another company of a group, a branch or another place. A name with one of them is not the name without
 * it.
 */
const DISTINGUISHING = wordSet(
  'holding holdings group gruppe grupo groupe grupa gruppo gruppen koncern international services service beteiligungs beteiligungen',
  'branch zweigniederlassung niederlassung succursale sucursal filiale filial oddzial oddeleni odstepny zavod organizacni organizacna slozka zlozka',
  'podruznica klon ypokatastima fioktelep sucursala filiaal bijkantoor sivuliike filialas filiale sede secondaria',
  'deutschland germany osterreich austria france frankreich italia italy italien espana spain spanien iberia iberica iberia portugal polska poland',
  'polen ceska czech cesko slovakia slovensko slovenija slovenia hrvatska croatia hungary magyarorszag hungaria romania bulgaria balgaria',
  'hellas ellas greece cyprus kypros ireland uk britain nederland netherlands holland belgium belgie belgique luxembourg danmark denmark',
  'sverige sweden suomi finland eesti estonia latvija latvia lietuva lithuania malta europe europa european nordic nordics baltic baltics',
  'benelux dach emea adria balkan schweiz suisse switzerland usa north south east west nord sud sued ost',
  'neu neue neuer new nova novi nowa nowy nouveau nouvelle ober unter alt alte old gross klein stara stary mala velika',
);

/** Distinguishes a Polish trade from a name that is spelled like it; words with a digit are never taken for similar ones. */
export const TRADE = '1:';

/** Whether a word is the trade of a full company name. */
export const isTrade = (word: Word): boolean => TRADES.has(spellingOf(word)) || spellingOf(word).startsWith(TRADE);

/** Whether a word is an article or preposition, which may belong to a surname. */
export const isParticle = (word: Word): boolean => PARTICLES.has(spellingOf(word));

/** Whether a word makes another surname wherever it stands: Dutch and German "van", "von". */
export const isSurnamePrefix = (word: Word): boolean => SURNAME_PREFIXES.has(spellingOf(word));

/** Whether a word of a name can be missing on one side without making it another name. */
export const isLight = (word: Word): boolean => isParticle(word) || FILLERS.has(spellingOf(word)) || isTrade(word);

/** Whether a word names another company, branch or place. */
export const isDistinguishing = (word: Word): boolean => DISTINGUISHING.has(spellingOf(word));

/** A word in one spelling only. */
export const written = (spelling: string): Word => ({ spellings: [spelling, spelling, spelling], abbreviated: false });

/** How a source that cuts or abbreviates writes a word. */
const canonicalWord = (word: Word): Word => {
  const spelling = spellingOf(word);
  if (spelling === 'ste') return STE;
  const canonical = PLAIN_CONNECTIVES.has(spelling)
    ? 'and'
    : (CANONICAL.get(spelling) ?? (word.abbreviated ? WITH_FULL_STOP.get(spelling) : undefined));
  return canonical === undefined ? word : written(canonical);
};

/** Lone letters and short words that mean "and" between two other words: "Sociedade A e B", "Dolce y Gabbana". */
const canonicalConnective = (word: Word, at: number, words: readonly Word[]): Word =>
  at > 0 && at < words.length - 1 && !word.abbreviated && CONNECTIVES.has(spellingOf(word)) ? written('and') : word;

/** The words of a name with usual abbreviations and connectives in one spelling. */
export const withoutAbbreviations = (words: readonly Word[]): Word[] =>
  words.map(canonicalConnective).map(canonicalWord);
