import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { printableText } from './fit-text.js';

/** Compiled once: `toMatch` compiles what it is given at every call, and these classes are large. */
const UNPRINTABLE = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;
const print = printableText((codePoint) => codePoint !== 'Ж'.codePointAt(0));

describe('printableText', () => {
  it('keeps Latin, Greek and Cyrillic text, composed', () => {
    expect(print('Żółć Ελληνική Българска (ÑÕŰ) 100 €')).toBe('Żółć Ελληνική Българска (ÑÕŰ) 100 €');
    expect(print('e\u0301')).toBe('é');
    expect(print('one\r\ntwo\u2028three')).toBe('one\ntwo\nthree');
  });

  it('replaces characters that are invisible, change the writing direction or have no glyph by their code points', () => {
    expect(print('a\u202eb\u200bc')).toBe('a[U+202E]b[U+200B]c');
    expect(print('株 😀 ש Ж')).toBe('[U+682A] 😀 [U+05E9] [U+0416]');
  });

  it('returns no control or format character except line ends', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(UNPRINTABLE.exec(print(text))).toBeNull();
      }),
    );
  });
});
