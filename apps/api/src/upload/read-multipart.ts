import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { AppError, badRequest } from '@vat/domain';
import { format as formatContentType } from 'content-type';
import { collectBytes, type LimitedPipe, pipeWithLimit } from './collect-bytes.js';
import { ENVELOPE_BYTES, MAX_FILE_BYTES, type Upload } from './upload.js';

const MAX_NAME_CHARACTERS = 255;

/**
 * The name of an uploaded file as it is stored: without folders and control characters (including those that change the
 * direction of writing, since the name is displayed), at most 255 characters, with its extension. `null` when nothing is left.
 */
export const tidyFileName = (given: string | undefined): string | null => {
  const name = (given ?? '')
    .toWellFormed()
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  if (name === '' || name === '.' || name === '..') return null;
  if (name.length <= MAX_NAME_CHARACTERS) return name;
  const [extension = ''] = /\.[^.]{1,10}$/.exec(name) ?? [];
  return name.slice(0, MAX_NAME_CHARACTERS - extension.length).toWellFormed() + extension;
};

/** The name of the part with the file. */
const FILE = 'file';

/** Longer than any field may be, so that a truncated value is still refused for its length by the field's schema. */
const FIELD_BYTES = 2_048;
const MAX_PARTS = 20;
/** How much of an unknown field name an error shows. */
const SHOWN_CHARACTERS = 100;

/** RFC 2046 §5.1.1. At the end of each chunk the parser searches for every prefix of the boundary, so long ones are expensive. */
const MAX_BOUNDARY = 70;

const parserOf = (req: IncomingMessage, boundary: string | undefined): BusboyInstance => {
  if (boundary !== undefined && boundary.length > MAX_BOUNDARY)
    throw badRequest('Content-Type', `The multipart boundary is longer than ${MAX_BOUNDARY} characters`);
  const parameters = boundary === undefined ? {} : { boundary };
  // Formatted again, so that the parser uses the boundary that was checked if the header contains two.
  const headers = { ...req.headers, 'content-type': formatContentType({ type: 'multipart/form-data', parameters }) };
  const limits = { fieldSize: FIELD_BYTES, parts: MAX_PARTS, headerPairs: 20, headerSize: 8_192 };
  try {
    // Also by the name of the part: a script may send the file without a file name.
    return new Busboy({
      headers,
      limits,
      isPartAFile: (name, _type, fileName) => name === FILE || fileName !== undefined,
    });
  } catch (error) {
    throw badRequest('Content-Type', 'The multipart boundary is missing', error);
  }
};

/** U+FFFD, which the parser puts in the place of bytes that are not UTF-8, or not of the charset that a part declares. */
const REPLACED = '\uFFFD';

/**
 * BAD_REQUEST for a text with U+FFFD: it would be stored as a text that nobody sent. The parser passes on decoded texts only, so
 * one that was sent with U+FFFD, which is damaged too, is refused as well.
 */
const refuseReplaced = (path: string, what: string): AppError =>
  badRequest(path, `${what} is not UTF-8, or has characters that were replaced with U+FFFD`);

/**
 * Reads a form with one file, named `file`, and the text fields in `known`. Fails as {@link pipeWithLimit} does, or with
 * BAD_REQUEST when a field is unknown, repeated, missing or not UTF-8, or the body is malformed.
 */
export const readMultipart = (
  req: IncomingMessage,
  boundary: string | undefined,
  known: readonly string[],
): { upload: Promise<Upload>; fail: LimitedPipe['fail'] } => {
  const parser = parserOf(req, boundary);
  const { done, fail } = pipeWithLimit(req, parser, MAX_FILE_BYTES + ENVELOPE_BYTES);
  const file = collectBytes(MAX_FILE_BYTES);
  const fields: Record<string, string> = {};
  let fileName: string | null | undefined;

  parser.on('file', (name: string | undefined, part: BusboyFileStream, given: string | undefined) => {
    part.on('error', fail);
    if (name !== FILE || fileName !== undefined) {
      part.resume();
      const shown = name?.slice(0, SHOWN_CHARACTERS) ?? '';
      return fail(badRequest(shown, name === FILE ? 'file is sent twice' : 'The only file is called file'));
    }
    fileName = tidyFileName(given);
    if (given?.includes(REPLACED)) {
      part.resume();
      return fail(refuseReplaced(FILE, 'The name of the file'));
    }
    part.on('data', (chunk: Buffer) => {
      if (!file.add(chunk)) fail(new AppError('FILE_TOO_LARGE'));
    });
  });
  parser.on('field', (name: string | undefined, value: string) => {
    if (name === undefined || !known.includes(name)) {
      const shown = name?.slice(0, SHOWN_CHARACTERS) ?? '';
      fail(badRequest(shown, `${shown === '' ? 'A part without a name' : shown} is not a known field`));
    } else if (Object.hasOwn(fields, name)) fail(badRequest(name, `${name} is sent twice`));
    else if (value.includes(REPLACED)) fail(refuseReplaced(name, name));
    else fields[name] = value;
  });
  parser.on('partsLimit', () => fail(badRequest('', 'The form has too many parts')));

  const upload = done.then(
    () => {
      if (fileName === undefined)
        throw badRequest(FILE, 'file is required: a part called file with the CSV file or workbook');
      return { bytes: file.bytes(), charset: null, fileName, fields };
    },
    (error: unknown) => {
      throw error instanceof AppError ? error : badRequest('', 'The body is not well-formed multipart', error);
    },
  );
  return { upload, fail };
};
