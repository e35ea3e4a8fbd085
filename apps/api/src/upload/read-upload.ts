import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { AppError } from '@vat/domain';
import { parse as parseDisposition } from 'content-disposition';
import { parse as parseContentType } from 'content-type';
import type { Request, Response } from 'express';
import { continueIfAsked } from '../http/connection.js';
import { collectBytes, type LimitedPipe, pipeWithLimit } from './collect-bytes.js';
import { readMultipart, tidyFileName } from './read-multipart.js';
import { ENVELOPE_BYTES, MAX_FILE_BYTES, refuseUpload, type Upload } from './upload.js';

/** Header values come as Latin-1; what is UTF-8 in truth, as most senders write names, is read as such. */
const asWritten = (header: string): string => {
  const bytes = Buffer.from(header, 'latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return header;
  }
};

/** Reads a body that is the file itself; its name is that of a Content-Disposition header. Fails as {@link pipeWithLimit} does. */
const readRawFile = (
  req: IncomingMessage,
  charset: string | null,
): { upload: Promise<Upload>; fail: LimitedPipe['fail'] } => {
  const file = collectBytes(MAX_FILE_BYTES);
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      file.add(chunk);
      done();
    },
  });
  const { done, fail } = pipeWithLimit(req, sink, MAX_FILE_BYTES);
  const disposition = req.headers['content-disposition'];
  const fileName = tidyFileName(disposition && parseDisposition(asWritten(disposition)).parameters.filename);
  return { upload: done.then(() => ({ bytes: file.bytes(), charset, fileName, fields: {} })), fail };
};

type ReadUploadDeps = {
  /** Milliseconds from the first look at the body to its last byte. */
  deadlineMs: number;
};

/** Reads the file of a call; `known` names the text fields that a form may have beside it. */
export type ReadUpload = (req: Request, res: Response, known: readonly string[]) => Promise<Upload>;

/**
 * Reads a batch's file: a form with the part `file` and the text fields in `known`, or the bytes as `text/csv`. Never holds
 * more than the 2 MiB that a file may have. Throws FILE_TOO_LARGE, at once where the length is declared, and BAD_REQUEST
 * for every other body, one that takes too long, and one whose client went away.
 */
export const readUpload =
  ({ deadlineMs }: ReadUploadDeps): ReadUpload =>
  async (req, res, known) => {
    const { type, parameters } = parseContentType(req.headers['content-type'] ?? '');
    const raw = type === 'text/csv';
    if (!raw && type !== 'multipart/form-data') {
      throw refuseUpload('Content-Type', 'Send the file as multipart/form-data with the part file, or as text/csv');
    }
    const encoding = req.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw refuseUpload('Content-Encoding', 'Send the file uncompressed');
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > MAX_FILE_BYTES + (raw ? 0 : ENVELOPE_BYTES)) throw new AppError('FILE_TOO_LARGE');

    continueIfAsked(req, res);
    const { upload, fail } = raw
      ? readRawFile(req, parameters.charset?.toLowerCase() ?? null)
      : readMultipart(req, parameters.boundary, known);
    const deadline = setTimeout(
      () => fail(refuseUpload('', `The body took longer than ${Math.round(deadlineMs / 1_000)} seconds`)),
      deadlineMs,
    );
    try {
      return await upload;
    } finally {
      clearTimeout(deadline);
    }
  };

/** The fields of a form and of the query together, not yet judged. Throws BAD_REQUEST for one that is in both. */
export const fieldsOf = ({ fields }: Pick<Upload, 'fields'>, query: object): Record<string, unknown> => {
  const twice = Object.keys(fields).find((name) => Object.hasOwn(query, name));
  if (twice !== undefined) throw refuseUpload(twice, `${twice} is sent in the form and in the query`);
  return { ...query, ...fields };
};
