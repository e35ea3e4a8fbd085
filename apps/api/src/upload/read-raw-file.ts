import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { parse as parseDisposition } from 'content-disposition';
import { collectBytes } from './collect-bytes.js';
import { type Pouring, pour } from './pour.js';
import { tidyFileName } from './tidy-file-name.js';
import { MAX_FILE_BYTES, type Upload } from './upload.js';

/** Header values come as Latin-1; what is UTF-8 in truth, as most senders write names, is read as such. */
const asWritten = (header: string): string => {
  const bytes = Buffer.from(header, 'latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return header;
  }
};

/** Reads a body that is the file itself; its name is that of a Content-Disposition header. Fails as {@link pour} does. */
export const readRawFile = (
  req: IncomingMessage,
  charset: string | null,
): { upload: Promise<Upload>; fail: Pouring['fail'] } => {
  const file = collectBytes(MAX_FILE_BYTES);
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      file.add(chunk);
      done();
    },
  });
  const { done, fail } = pour(req, sink, MAX_FILE_BYTES);
  const disposition = req.headers['content-disposition'];
  const fileName = tidyFileName(disposition && parseDisposition(asWritten(disposition)).parameters.filename);
  return { upload: done.then(() => ({ bytes: file.bytes(), charset, fileName, fields: {} })), fail };
};
