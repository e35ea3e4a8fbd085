import { Label } from 'react-aria-components/Label';
import { ProgressBar } from 'react-aria-components/ProgressBar';

type ProgressProps = {
  label: string;
  /** Null while nobody knows how much there is. */
  value: number | null;
  max?: number;
  /** What is said beside the bar. */
  text: string;
};

/** How far something has come. */
export const Progress = ({ label, value, max = 100, text }: ProgressProps) => (
  <ProgressBar
    className="progress"
    {...(value === null ? { isIndeterminate: true } : { value, maxValue: Math.max(1, max) })}
    valueLabel={text}
  >
    {({ percentage }) => (
      <>
        <div className="progress-head">
          <Label>{label}</Label>
          <span>{text}</span>
        </div>
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="progress-bar" aria-hidden="true">
          <rect width={percentage ?? 100} height="1" className={percentage === undefined ? 'unknown' : undefined} />
        </svg>
      </>
    )}
  </ProgressBar>
);
