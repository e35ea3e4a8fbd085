import path from 'node:path';
import type { StackCommands } from './start-stack.js';

type StackCommandsOf = { root: string; node: string; development: boolean };

/** The service's own programs: the built ones, or while developing the sources under Node's watcher. */
export const stackCommands = ({ root, node, development }: StackCommandsOf): StackCommands => {
  const app = (name: string) => path.join(root, 'apps', name);
  const fromSource = (name: string, ...flags: string[]) => [
    ...['--conditions=development', '--import', 'tsx', ...flags],
    path.join(app(name), 'src/main.ts'),
  ];
  const built = (name: string) => [path.join(app(name), 'dist/main.js')];
  const server = (name: string) => ({ file: node, args: development ? fromSource(name, '--watch') : built(name) });
  return {
    api: server('api'),
    worker: server('worker'),
    admin: (args) => ({ file: node, args: [...(development ? fromSource('admin') : built('admin')), ...args] }),
    // Node's watcher stands between us and the program, and does not pass its messages on in every version.
    saysReady: !development,
  };
};
