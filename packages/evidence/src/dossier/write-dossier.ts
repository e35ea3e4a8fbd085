import { Readable } from 'node:stream';
import { dossierFiles } from './dossier-files.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { sealFiles } from './seal-files.js';
import { zipFiles } from './zip-files.js';

/**
 * A dossier as the bytes of a zip, made while they are read: memory is bounded by one check, the tables, and the list of
 * files. Equal sources and options give equal bytes, but for the stamp. Destroying the stream ends the sources; a source or
 * `stamp` that throws destroys it with that error, and what was sent until then is no valid zip.
 * Source: contract part 2 §7; the layout is explained in `assets/README.txt`.
 */
export const writeDossier = (source: DossierSource, options: DossierOptions): Readable =>
  Readable.from(zipFiles(sealFiles(dossierFiles(source, options), options.stamp), options.createdAt), {
    objectMode: false,
  });
