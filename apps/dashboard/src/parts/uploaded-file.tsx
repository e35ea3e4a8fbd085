import type { ReactNode } from 'react';
import { count } from './format.js';
import { Progress } from './progress.js';
import { Card, DateTime } from './text.js';

type UploadedFile = { label: string | null; file_name: string | null; created_at: string };

/** The head of a file's page: its label, otherwise its name. `what`: the title of one that has neither. */
export const headOfFile = (what: string, status: string, { label, file_name, created_at }: UploadedFile) => ({
  title: label ?? file_name ?? what,
  status,
  lead: (
    <>
      {label !== null && file_name} <DateTime at={created_at} />
    </>
  ),
});

type Part = { tone: string; lines: number; text: string };

type FileTotalsProps = {
  title: string;
  label: string;
  total: number;
  /** The lines of the percentage. */
  counted: number;
  /** The parts of the bar, in their order. */
  parts: readonly Part[];
  /** The last part of the legend, which leaves the bar empty. */
  rest?: Part;
  children: ReactNode;
};

/** How many lines of a file have which result, as a bar with its legend. */
export const FileTotals = ({ title, label, total, counted, parts, rest, children }: FileTotalsProps) => {
  // Rounded down, so that 100 % means all.
  const percentage = total === 0 ? 100 : Math.floor((100 * counted) / total);
  let start = 0;
  const bar = parts.map(({ tone, lines, text }) => {
    const width = (100 * lines) / Math.max(1, total);
    start += width;
    return <rect key={text} className={tone} x={start - width} width={width} height="1" />;
  });
  return (
    <Card title={title}>
      <Progress
        label={label}
        percentage={percentage}
        text={new Intl.NumberFormat(undefined, { style: 'percent' }).format(percentage / 100)}
        parts={bar}
      />
      <ul className="legend">
        {[...parts, ...(rest ? [rest] : [])].map(({ tone, lines, text }) => (
          <li key={text} className={tone}>
            {count(lines)} {text}
          </li>
        ))}
      </ul>
      {children}
    </Card>
  );
};
