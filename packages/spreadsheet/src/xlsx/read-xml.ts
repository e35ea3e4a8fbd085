import sax from 'sax';
import type { Part } from './archive.js';
import { damaged } from './invalid-file.js';

/** The elements and texts of a part, in order. Names are without their namespace prefix. */
export type XmlHandlers = {
  open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  close?: (name: string) => void;
  /** A piece of text: long texts arrive in several. */
  text?: (piece: string) => void;
};

/** Limits that no spreadsheet program reaches. */
const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 256;

type Decoder = InstanceType<typeof TextDecoder>;

/** The part's text. The format allows UTF-8 and UTF-16, which begins with a byte order mark. */
const decoderOf = (name: string, first: Uint8Array): Decoder => {
  const [one, two] = first;
  if (one === 0xff && two === 0xfe) return new TextDecoder('utf-16le', { fatal: true });
  if (one === 0xfe && two === 0xff) throw damaged(`${name} is written in an unusual encoding`);
  return new TextDecoder('utf-8', { fatal: true });
};

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Creates a parser that refuses what no workbook needs: document types, with which entities are declared, and deep nesting. */
const openParser = (part: string, { open, close, text }: XmlHandlers): sax.SAXParser => {
  const parser = sax.parser(true, { position: false });
  let depth = 0;
  let attributes = 0;
  const refuse = (what: string, cause?: unknown): never => {
    throw damaged(`${part} ${what}`, cause);
  };
  parser.onerror = (error) => refuse('is not well-formed', error);
  parser.ondoctype = () => refuse('has a document type');
  parser.onattribute = () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) refuse('has too many attributes');
  };
  parser.onopentag = (tag) => {
    depth += 1;
    attributes = 0;
    if (depth > MAX_DEPTH) refuse('is nested too deeply');
    open(localName(tag.name), tag.attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    close?.(localName(name));
  };
  if (text) {
    parser.ontext = text;
    parser.oncdata = text;
  }
  return parser;
};

/**
 * Parses a part as it is unpacked, and pauses after each chunk, so that the caller can use what the handlers collected.
 *
 * @throws AppError INVALID_FILE for a part that is not well-formed or that no spreadsheet program writes
 */
export function* parseXml(part: Part, handlers: XmlHandlers): Generator<void> {
  const parser = openParser(part.name, handlers);
  let decoder: Decoder | undefined;
  const decode = (chunk?: Uint8Array): string => {
    if (chunk) decoder ??= decoderOf(part.name, chunk);
    try {
      return decoder?.decode(chunk, { stream: chunk !== undefined }) ?? '';
    } catch (error) {
      throw damaged(`${part.name} has broken characters`, error);
    }
  };
  for (const chunk of part.read()) {
    parser.write(decode(chunk));
    yield;
  }
  parser.write(decode()).close();
}

export const readXml = (part: Part, handlers: XmlHandlers): void => {
  for (const _ of parseXml(part, handlers));
};
