import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';

const KEEP_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 4_000;

/** A server's log file: `fd` to hand to the process, `tail` what was written since it was opened, `close` our side. */
export type ServerLog = { fd: number; tail: () => string; close: () => void };

/** Opens `file` for appending; beyond 10 MiB the old one is kept as `file.1`, so that it never grows without end. */
export const openLog = (file: string): ServerLog => {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > KEEP_BYTES) renameSync(file, `${file}.1`);
  const from = size > KEEP_BYTES ? 0 : size;
  const fd = openSync(file, 'a', 0o600);
  return {
    fd,
    tail: () => readFileSync(file).subarray(from).subarray(-TAIL_BYTES).toString('utf8').trim(),
    close: () => closeSync(fd),
  };
};
