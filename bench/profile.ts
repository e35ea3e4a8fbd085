import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { renderTable } from './measuring.js';

/** A function, or a whole package with `function` null, and its share of the time the process was not idle. */
export type ProfileLine = { where: string; function: string | null; share: number };

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
};

const TOP = 15;
/** V8's names for idle time. */
const IDLE = new Set(['(idle)', '(program)', '(root)']);

/** `@vat/db`, `bullmq`, `node:internal`, or `V8` (garbage collection, native code). */
const packageOf = (url: string): string => {
  if (url.startsWith('node:')) return `node:${url.slice(5).split('/')[0]}`;
  const installed = url.lastIndexOf('node_modules/');
  if (installed >= 0) {
    const [scope = '', name = ''] = url.slice(installed + 'node_modules/'.length).split('/');
    return scope.startsWith('@') ? `${scope}/${name}` : scope;
  }
  const ours = /\/(packages|apps)\/([^/]+)\//.exec(url);
  if (ours) return ours[1] === 'apps' ? `apps/${ours[2]}` : `@vat/${ours[2]}`;
  return 'V8';
};

/** The packages and the functions with the most self time over all CPU profiles in a folder, as shares of busy samples. */
export const summarizeProfile = (folder: string): ProfileLine[] => {
  const functions = new Map<string, ProfileLine & { samples: number }>();
  const packages = new Map<string, number>();
  let busy = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Profile;
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const id of profile.samples) {
      const frame = frames.get(id);
      if (!frame || IDLE.has(frame.functionName)) continue;
      busy += 1;
      const where = packageOf(frame.url);
      packages.set(where, (packages.get(where) ?? 0) + 1);
      const key = `${frame.url}:${frame.lineNumber}:${frame.functionName}`;
      const known = functions.get(key) ?? {
        where,
        function: frame.functionName || '(anonymous)',
        share: 0,
        samples: 0,
      };
      known.samples += 1;
      functions.set(key, known);
    }
  }
  const shareOf = (samples: number): number => Math.round((samples / Math.max(1, busy)) * 1_000) / 1_000;
  const byPackage = [...packages].toSorted(([, a], [, b]) => b - a).slice(0, TOP);
  const byFunction = [...functions.values()].toSorted((a, b) => b.samples - a.samples).slice(0, TOP);
  return [
    ...byPackage.map(([where, samples]) => ({ where, function: null, share: shareOf(samples) })),
    ...byFunction.map(({ where, function: name, samples }) => ({ where, function: name, share: shareOf(samples) })),
  ];
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** The time distribution of a profiled process, as paragraphs of Markdown. */
export const renderProfile = (profile: ProfileLine[]): string[] => {
  const row = (line: ProfileLine) => [line.function ?? '', line.where, percent(line.share)];
  return [
    'Self time of a worker, as shares of the time that is not idle, by package and by function:',
    renderTable(
      ['package', 'share'],
      profile.filter((line) => line.function === null).map((line) => row(line).slice(1)),
    ),
    renderTable(['function', 'package', 'share'], profile.filter((line) => line.function !== null).map(row)),
  ];
};
