import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunTool } from './provide-tool.js';

/** Unpacks a zip with Python, so that an independent implementation reads it; resolves to the folder. */
export const unpackDossier = async (run: RunTool, zip: Readable): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-dossier-'));
  const file = `${folder}.zip`;
  await pipeline(zip, createWriteStream(file));
  const { code, output } = await run('python3', ['-m', 'zipfile', '-e', file, folder]);
  await rm(file);
  if (code !== 0) throw new Error(`the zip cannot be read: ${output}`);
  return folder;
};
