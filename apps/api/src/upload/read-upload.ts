import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { XLSX_TYPE } from '@vat/contracts';
import { AppError, badRequest } from '@vat/domain';
import { parse as parseDisposition } from 'content-disposition';
import { parse as parseContentType } from 'content-type';
import type { Request, Response } from 'express';
import { continueIfAsked } from '../http/connection.js';
import { collectBytes, type LimitedPipe, pipeWithLimit } from './collect-bytes.js';
import { readMultipart, tidyFileName } from './read-multipart.js';
import { ENVELOPE_BYTES, MAX_FILE_BYTES, type Upload } from './upload.js';

/** Decodes a header value as UTF-8, which most clients send in file names. Node decodes headers as Latin-1. */
const decodeHeader = (header: string): string => {
  const bytes = Buffer.from(header, 'latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return header;
  }
};

/** Reads a body that is the file itself; the file name comes from Content-Disposition. Fails as {@link pipeWithLimit} does. */
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
  const fileName = tidyFileName(disposition && parseDisposition(decodeHeader(disposition)).parameters.filename);
  return { upload: done.then(() => ({ bytes: file.bytes(), charset, fileName, fields: {} })), fail };
};

type ReadUploadDeps = {
  /** Milliseconds from the beginning of reading the body to its last byte. */
  deadlineMs: number;
};

/** The types of bodies that are the file itself. Which of the two formats it is depends on its content. */
const RAW_TYPES: ReadonlySet<string> = new Set(['text/csv', XLSX_TYPE]);

/** Reads the file of a call. `known`: the names of the text fields that a form may have in addition. */
export type ReadUpload = (req: Request, res: Response, known: readonly string[]) => Promise<Upload>;

/**
 * Reads a batch's file: a form with the part `file` and the text fields in `known`, or the bytes as `text/csv` or an Excel
 * workbook. Never buffers more than the 2 MiB that a file may have. Throws FILE_TOO_LARGE, before reading when the length is declared, and BAD_REQUEST
 * for any other body, for one that takes too long, and when the client disconnects.
 */
export const readUpload =
  ({ deadlineMs }: ReadUploadDeps): ReadUpload =>
  async (req, res, known) => {
    const { type, parameters } = parseContentType(req.headers['content-type'] ?? '');
    const raw = RAW_TYPES.has(type);
    if (!raw && type !== 'multipart/form-data') {
      throw badRequest(
        'Content-Type',
        `Send the file as multipart/form-data with the part file, or as text/csv or ${XLSX_TYPE}`,
      );
    }
    const encoding = req.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw badRequest('Content-Encoding', 'Send the file uncompressed');
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > MAX_FILE_BYTES + (raw ? 0 : ENVELOPE_BYTES)) throw new AppError('FILE_TOO_LARGE');

    continueIfAsked(req, res);
    const { upload, fail } = raw
      ? readRawFile(req, parameters.charset?.toLowerCase() ?? null)
      : readMultipart(req, parameters.boundary, known);
    const deadline = setTimeout(
      () => fail(badRequest('', `The body took longer than ${Math.round(deadlineMs / 1_000)} seconds`)),
      deadlineMs,
    );
    try {
      return await upload;
    } finally {
      clearTimeout(deadline);
    }
  };

/** Merges the fields of a form and of the query, not yet validated. Throws BAD_REQUEST for a field that is in both. */
export const fieldsOf = ({ fields }: Pick<Upload, 'fields'>, query: object): Record<string, unknown> => {
  const twice = Object.keys(fields).find((name) => Object.hasOwn(query, name));
  if (twice !== undefined) throw badRequest(twice, `${twice} is sent in the form and in the query`);
  return { ...query, ...fields };
};
