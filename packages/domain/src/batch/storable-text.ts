/** Text without what Postgres keeps in no text, and in no JSON either: U+0000 and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();
