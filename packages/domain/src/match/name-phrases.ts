/**
 * Abbreviations that stand for several words of a name, such as "PHU" for "przedsiębiorstwo handlowo-usługowe".
 */

import { spellingOf, type Word, wordsOf } from './fold-text.js';
import { TRADE, withoutAbbreviations, written } from './name-words.js';
import { once } from './once.js';

/** One line is one abbreviation of several words, which then count as one. */
const PHRASES = [
  'sgps: sociedade gestora de participações sociais',
  'ipss: instituição particular de solidariedade social',
  'spzoz: samodzielny publiczny zakład opieki zdrowotnej | sp zoz',
  'opg: obiteljsko poljoprivredno gospodarstvo',
  'asd: associazione sportiva dilettantistica',
  'ssd: società sportiva dilettantistica',
  'asoy: asunto oy | as oy',
  'koy: kiinteistö oy',
];
/** The same for trades of Polish companies: elsewhere their abbreviations are names. */
const POLISH_TRADES = [
  'ph: przedsiębiorstwo handlowe',
  'pu: przedsiębiorstwo usługowe',
  'pw: przedsiębiorstwo wielobranżowe',
  'phu: przedsiębiorstwo handlowo usługowe',
  'puh: przedsiębiorstwo usługowo handlowe',
  'pph: przedsiębiorstwo produkcyjno handlowe',
  'ppu: przedsiębiorstwo produkcyjno usługowe',
  'phup: przedsiębiorstwo handlowo usługowo produkcyjne',
  'pphu: przedsiębiorstwo produkcyjno handlowo usługowe',
  'ppuh: przedsiębiorstwo produkcyjno usługowo handlowe',
  'fh: firma handlowa',
  'fu: firma usługowa',
  'fhu: firma handlowo usługowa',
  'fuh: firma usługowo handlowa',
  'fphu: firma produkcyjno handlowo usługowa',
  'zhu: zakład handlowo usługowy',
  'zuh: zakład usługowo handlowy',
  'zpu: zakład produkcyjno usługowy',
  'zphu: zakład produkcyjno handlowo usługowy',
];

const textOf = (words: readonly Word[]): string => words.map(spellingOf).join(' ');

type Phrases = ReadonlyMap<string, Word>;
const readPhrases = (lines: readonly string[], prefix: string, withShort: boolean): [string, Word][] =>
  lines.flatMap((line) => {
    const [short = '', phrases = ''] = line.split(': ');
    const texts = phrases.split(' | ').map((phrase) => textOf(withoutAbbreviations(wordsOf(phrase))));
    return [...texts, ...(withShort ? [short] : [])].map((text): [string, Word] => [text, written(prefix + short)]);
  });
const LONGEST_PHRASE = 5;
const phrasesOf = (isPolish: boolean): Phrases =>
  new Map([...readPhrases(PHRASES, '', false), ...readPhrases(POLISH_TRADES, TRADE, isPolish)]);
const phrasesInPoland = once(() => phrasesOf(true));
const phrasesElsewhere = once(() => phrasesOf(false));

const contractPhrases = (words: readonly Word[], phrases: Phrases): Word[] => {
  const contracted: Word[] = [];
  for (let at = 0; at < words.length; ) {
    let length = Math.min(LONGEST_PHRASE, words.length - at);
    while (length > 1 && !phrases.has(textOf(words.slice(at, at + length)))) length -= 1;
    contracted.push(phrases.get(textOf(words.slice(at, at + length))) ?? (words[at] as Word));
    at += length;
  }
  return contracted;
};

/**
 * The words of a name with usual abbreviations and connectives in one spelling. `memberState` is VIES's code of the state in
 * which the abbreviations of trades count.
 */
export const canonicalWords = (words: readonly Word[], memberState?: string): Word[] =>
  contractPhrases(withoutAbbreviations(words), memberState === 'PL' ? phrasesInPoland() : phrasesElsewhere());
