import { isUnstated, joinWords, latinize, sameWord, wordsOf } from './fold-text.js';

test.each([
  // ELOT 743, with its digraphs and their exceptions.
  ['Ευάγγελος', 'evangelos'],
  ['Αυτοκίνητο', 'aftokinito'],
  ['Παύλος', 'pavlos'],
  ['Ουρανός', 'ouranos'],
  ['Μπάκος', 'bakos'],
  ['Λαμπράκης', 'lamprakis'],
  ['Προϋπόθεση', 'proypothesi'],
  ['Μάιος', 'maios'],
  ['Σφίγγα', 'sfinga'],
  ['Συγχρονισμός', 'synchronismos'],
  ['ΨΥΧΗ', 'psychi'],
  // The Bulgarian Transliteration Act.
  ['България', 'balgaria'],
  ['Щастливо', 'shtastlivo'],
  ['Жечка Йорданова', 'zhechka yordanova'],
  ['Юлия', 'yulia'],
  ['Кръстьо Цеков', 'krastyo tsekov'],
  // Letters of the other member states.
  ['Straße Łódź Þór Đuro Ħamrun Œuvre', 'strasse lodz thor duro hamrun oeuvre'],
  ['Șos. Ţărm Őrült Ķekava Žalia Ġgantija', 'sos. tarm orult kekava zalia ggantija'],
])('%s is %s in Latin letters', (text, latin) => {
  expect(latinize(text)).toBe(latin);
});

test.each([
  ['Müller', 'Mueller'],
  ['Müller', 'Muller'],
  ['Ærø', 'Aeroe'],
  ['Århus', 'Aarhus'],
  ['Χαλάνδρι', 'Halandri'],
  ['Търговище', 'Turgovishte'],
  ['София', 'Sofiya'],
  ['Ευρώπη', 'Europi'],
  ['Ｆｕｌｌ', 'Full'],
  ["O'Brien", 'O’BRIEN'],
])('%s and %s are one word', (one, other) => {
  expect(sameWord(joinWords(wordsOf(one)), joinWords(wordsOf(other)))).toBe(true);
});

test.each([
  ['Bauer', 'Baur'],
  ['Noel', 'Nol'],
  ['Μάης', 'Μάις 1'],
])('%s and %s are two words', (one, other) => {
  expect(sameWord(joinWords(wordsOf(one)), joinWords(wordsOf(other)))).toBe(false);
});

test.each(['', ' ', '---', '***', ' - ', '–', 'N/A', null, undefined])('%j states nothing', (text) => {
  expect(isUnstated(text)).toBe(true);
});
