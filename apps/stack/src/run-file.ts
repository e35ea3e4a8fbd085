import { rmSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from './replace-file.js';

/** What `DATA_DIR/run.json` holds (contract, part 2, section 2). A server's pid is there only when it is embedded. */
export type RunState = {
  base_url: string;
  database_url: string;
  redis_url: string;
  pids: { postgres?: number; redis?: number; api: number; workers: number[] };
};

/** The file that says a stack is up, and which processes it consists of. */
export const runFile = (dataDir: string) => {
  const file = path.join(dataDir, 'run.json');
  return {
    write: (state: RunState): void => replaceFile(file, `${JSON.stringify(state, null, 2)}\n`),
    remove: (): void => rmSync(file, { force: true }),
  };
};
