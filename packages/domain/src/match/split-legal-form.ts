import { joinWords, spellingOf, squeeze, type Word, wordsOf } from './fold-text.js';
import {
  END_STATES,
  FORM_IN_FRONT,
  FORM_REMARKS,
  FORM_TRANSLATIONS,
  FRONT_STATES,
  RELATED_FORMS,
} from './legal-form-relations.js';
import { type FormPlace, LEGAL_FORMS } from './legal-form-table.js';
import { once } from './once.js';

/** A name without its legal form. `form` is null where none is stated, else an entry of the table or several joined by `+`. */
type SplitName = { words: readonly Word[]; form: string | null };

type KnownForm = { form: string; place: FormPlace };

const REACH: Readonly<Record<FormPlace, number>> = { end: 0, front: 1, anywhere: 2 };

const createIndex = (): ReadonlyMap<string, KnownForm> => {
  const index = new Map<string, KnownForm>();
  for (const [form, place, spellings] of LEGAL_FORMS) {
    for (const spelling of spellings.split('|')) {
      for (const key of joinWords(wordsOf(spelling)).spellings) {
        const known = index.get(key);
        // A spelling that two forms share, such as "SRL", belongs to the first; it stands wherever either may.
        if (!known) index.set(key, { form, place });
        else if (REACH[place] > REACH[known.place]) index.set(key, { ...known, place });
      }
    }
  }
  return index;
};

const formIndex = once(createIndex);
const remarkIndex = once((): ReadonlySet<string> => new Set(FORM_REMARKS.map(squeeze)));
const LONGEST = 8;

/** The form that `words` are, in any of their spellings ("Α.Ε." is "AE" in Latin). */
const findForm = (words: readonly Word[]): KnownForm | null => {
  for (const spelling of joinWords(words).spellings) {
    const known = formIndex().get(spelling);
    if (known) return known;
  }
  return null;
};

const isRemark = (words: readonly Word[]): boolean => joinWords(words).spellings.some((key) => remarkIndex().has(key));

type Cut = { at: number; length: number; form: string | null };

/** Short spellings are forms only in the states that write them there: "AG Insurance" and "Windpark II" are names. */
const isUsual = (
  part: readonly Word[],
  states: ReadonlySet<string> | undefined,
  memberState: string | undefined,
): boolean => !states || !memberState || spellingOf(joinWords(part)).length > 4 || states.has(memberState);

/** The longest form or remark that ends the words. At least one word remains. */
const findAtEnd = (words: readonly Word[], memberState: string | undefined): Cut | null => {
  for (let length = Math.min(LONGEST, words.length - 1); length >= 1; length -= 1) {
    const at = words.length - length;
    const tail = words.slice(at);
    const known = findForm(tail);
    if (known && isUsual(tail, END_STATES.get(known.form), memberState)) return { at, length, form: known.form };
    if (isRemark(tail)) return { at, length, form: null };
  }
  return null;
};

const findAtFront = (words: readonly Word[], memberState: string | undefined): Cut | null => {
  for (let length = Math.min(LONGEST, words.length - 1); length >= 1; length -= 1) {
    const head = words.slice(0, length);
    const known = findForm(head);
    // A single word that is a form inside a name may be the beginning of one: "Limited Editions".
    if (!known || known.place === 'end' || (known.place === 'anywhere' && length === 1)) continue;
    if (isUsual(head, FRONT_STATES.get(known.form), memberState)) return { at: 0, length, form: known.form };
  }
  return null;
};

const findInside = (words: readonly Word[]): Cut | null => {
  for (let at = 1; at < words.length - 1; at += 1) {
    for (let length = Math.min(LONGEST, words.length - at); length >= 1; length -= 1) {
      const known = findForm(words.slice(at, at + length));
      if (known?.place === 'anywhere') return { at, length, form: known.form };
    }
  }
  return null;
};

const withoutCut = (words: readonly Word[], { at, length }: Cut): Word[] => [
  ...words.slice(0, at),
  ...words.slice(at + length),
];

const isSpelled = (word: Word | undefined, spelling: string): boolean =>
  word !== undefined && spellingOf(word) === spelling;

const isLeftover = (word: Word): boolean => spellingOf(word) === 'and';

/** "Baugesellschaft mbH" is "Bau GmbH": the form written as part of the last word. */
const MERGED_FORM = /(?:gesellschaft|ges)$/;
const detachMerged = (words: readonly Word[]): readonly Word[] => {
  const last = words.at(-1);
  if (!last || !MERGED_FORM.test(spellingOf(last))) return words;
  const detach = (spelling: string) => spelling.replace(MERGED_FORM, '');
  const [first, second, third] = last.spellings;
  if (detach(first).length < 2) return words;
  return [...words.slice(0, -1), { spellings: [detach(first), detach(second), detach(third)], abbreviated: false }];
};

/** A second form at the end is one only in another language of the same form: "Solvay SA/NV", but "Day Spa Ltd". */
const isFurther = (form: string | null, forms: readonly string[]): boolean =>
  form === null ||
  forms.length === 0 ||
  Object.values(FORM_TRANSLATIONS).some((groups) =>
    groups.some((group) => group.includes(form) && forms.every((known) => group.includes(known))),
  );

/**
 * Separates legal forms from the words of a name: at the end, then (if none is there) in front, then unmistakable ones inside.
 * A name that would be empty without its form keeps it.
 */
export const splitLegalForm = (name: readonly Word[], memberState?: string): SplitName => {
  let words: readonly Word[] = name;
  const forms: string[] = [];
  const remove = (cut: Cut | null): boolean => {
    if (!cut) return false;
    const mbh = cut.form === 'gmbh' && spellingOf(joinWords(words.slice(cut.at, cut.at + cut.length))) === 'mbh';
    const rest = withoutCut(words, cut);
    if (rest.every(isLeftover)) return false;
    words = mbh ? detachMerged(rest) : rest;
    if (cut.form !== null) forms.unshift(cut.form);
    return true;
  };

  // Remarks stand on both sides of the form: "X S.L. (Sociedad Unipersonal)", "X i.L. GmbH".
  for (
    let cut = findAtEnd(words, memberState);
    cut && isFurther(cut.form, forms);
    cut = findAtEnd(words, memberState)
  ) {
    if (!remove(cut)) break;
  }
  if (forms.length === 0) remove(findAtFront(words, memberState));
  if (forms.length === 0) remove(findInside(words));
  // Some write the form on both sides: "Oy X Ab", "SC X SRL" (societate comercială).
  const texts = forms[0] ? (FORM_IN_FRONT[forms[0]] ?? []) : [];
  const twice = texts
    .map((text) => text.split(' '))
    .find((text) => text.every((word, at) => isSpelled(words[at], word)));
  if (twice && words.length > twice.length) words = words.slice(twice.length);
  while (words.length > 1 && words.slice(-1).every(isLeftover)) words = words.slice(0, -1);
  return { words, form: forms.length === 0 ? null : [...new Set(forms)].sort().join('+') };
};

/** How the legal forms of two names compare. A form that one name lacks is no difference: most invoices leave it out. */
type FormComparison = 'equal' | 'related' | 'different';

/** `memberState` selects which names of a form are translations of each other: BV and SRL in Belgium. */
export const compareForms = (one: string | null, other: string | null, memberState?: string): FormComparison => {
  if (one === null || other === null || one === other) return 'equal';
  const together = (groups: readonly (readonly string[])[]) =>
    groups.some((group) => group.includes(one) && group.includes(other));
  if (memberState && together(FORM_TRANSLATIONS[memberState] ?? [])) return 'equal';
  // "Oy Ab": both languages of one form.
  if (one.split('+').includes(other) || other.split('+').includes(one)) return 'equal';
  return together(RELATED_FORMS) ? 'related' : 'different';
};
