import { renderTable } from './render-table.js';
import type { ProfileLine } from './summarize-profile.js';

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
