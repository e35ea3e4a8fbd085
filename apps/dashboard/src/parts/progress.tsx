import type { ReactNode } from 'react';
import { Label } from 'react-aria-components/Label';
import { ProgressBar } from 'react-aria-components/ProgressBar';

type ProgressProps = {
  label: string;
  /** 0 to 100; null when the total is unknown. */
  percentage: number | null;
  /** The text beside the bar, by default the percentage. */
  text?: string;
  /** Segments of the bar in a box of 100 by 1; by default one segment up to the percentage. */
  parts?: ReactNode;
};

const percentText = (percentage: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent' }).format(percentage / 100);

/** A progress bar with a label. */
export const Progress = ({ label, percentage, text = percentText(percentage ?? 0), parts }: ProgressProps) => (
  <ProgressBar
    className="progress"
    {...(percentage === null ? { isIndeterminate: true } : { value: percentage })}
    valueLabel={text}
  >
    <div className="progress-head">
      <Label>{label}</Label>
      <span>{text}</span>
    </div>
    <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="progress-bar" aria-hidden="true">
      {parts ?? <rect width={percentage ?? 100} height="1" className={percentage === null ? 'unknown' : undefined} />}
    </svg>
  </ProgressBar>
);
