import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { AppError } from '@vat/domain';
import { format as formatContentType } from 'content-type';
import { collectBytes, type LimitedPipe, pipeWithLimit } from './collect-bytes.js';
import { ENVELOPE_BYTES, MAX_FILE_BYTES, refuseUpload, type Upload } from './upload.js';

const MOST = 255;

/**
 * The name of an uploaded file as it is kept: no folders, no control characters (those that turn the direction of writing
 * are among them, since a name is shown), at most 255 characters with the ending kept. `null` when nothing is left.
 */
export const tidyFileName = (given: string | undefined): string | null => {
  const name = (given ?? '')
    .toWellFormed()
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  if (name === '' || name === '.' || name === '..') return null;
  if (name.length <= MOST) return name;
  const [ending = ''] = /\.[^.]{1,10}$/.exec(name) ?? [];
  return name.slice(0, MOST - ending.length).toWellFormed() + ending;
};

/** The one part that is a file. */
const FILE = 'file';

/** Longer than any field may be, so that what is cut off is refused for its length by the field's own schema. */
const FIELD_BYTES = 2_048;
const MAX_PARTS = 20;
/** Of a name that is refused. */
const SHOWN_CHARACTERS = 100;

/** Of a boundary (RFC 2046 §5.1.1). At the end of each chunk the parser looks for every beginning of the boundary, one by one. */
const MAX_BOUNDARY = 70;

const parserOf = (req: IncomingMessage, boundary: string | undefined): BusboyInstance => {
  if (boundary !== undefined && boundary.length > MAX_BOUNDARY)
    throw refuseUpload('Content-Type', `The multipart boundary is longer than ${MAX_BOUNDARY} characters`);
  const parameters = boundary === undefined ? {} : { boundary };
  // Written again, so that the parser takes the boundary that was checked, where there are two.
  const headers = { ...req.headers, 'content-type': formatContentType({ type: 'multipart/form-data', parameters }) };
  const limits = { fieldSize: FIELD_BYTES, parts: MAX_PARTS, headerPairs: 20, headerSize: 8_192 };
  try {
    // By name, too: a script may send the file without a file name.
    return new Busboy({
      headers,
      limits,
      isPartAFile: (name, _type, fileName) => name === FILE || fileName !== undefined,
    });
  } catch (error) {
    throw refuseUpload('Content-Type', 'The multipart boundary is missing', error);
  }
};

/**
 * Reads a form with one file, called `file`, and the text fields in `known`. Fails as {@link pipeWithLimit} does, or with BAD_REQUEST for what is not known, sent twice, missing, or no multipart.
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
      return fail(refuseUpload(shown, name === FILE ? 'file is sent twice' : 'The only file is called file'));
    }
    fileName = tidyFileName(given);
    part.on('data', (chunk: Buffer) => {
      if (!file.add(chunk)) fail(new AppError('FILE_TOO_LARGE'));
    });
  });
  parser.on('field', (name: string | undefined, value: string) => {
    if (name === undefined || !known.includes(name)) {
      const shown = name?.slice(0, SHOWN_CHARACTERS) ?? '';
      fail(refuseUpload(shown, `${shown === '' ? 'A part without a name' : shown} is not a known field`));
    } else if (Object.hasOwn(fields, name)) fail(refuseUpload(name, `${name} is sent twice`));
    else fields[name] = value;
  });
  parser.on('partsLimit', () => fail(refuseUpload('', 'The form has too many parts')));

  const upload = done.then(
    () => {
      if (fileName === undefined) throw refuseUpload(FILE, 'file is required: a part called file with the CSV file');
      return { bytes: file.bytes(), charset: null, fileName, fields };
    },
    (error: unknown) => {
      throw error instanceof AppError ? error : refuseUpload('', 'The body is not well-formed multipart', error);
    },
  );
  return { upload, fail };
};
