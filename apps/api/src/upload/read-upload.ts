import { AppError } from '@vat/domain';
import { parse as parseContentType } from 'content-type';
import type { Request, Response } from 'express';
import { continueIfAsked } from '../http/continue-if-asked.js';
import { readMultipart } from './read-multipart.js';
import { readRawFile } from './read-raw-file.js';
import { refuseUpload } from './refuse-upload.js';
import { ENVELOPE_BYTES, MAX_FILE_BYTES, type Upload } from './upload.js';

export type ReadUploadDeps = {
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
