import type { MemberStateStatus } from '../../api/shapes.js';

const percent = (share: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 }).format(share);

/** Answered, saturated and unavailable asks as parts of one bar. */
export const ShareBar = ({ state: { answered, saturated, unavailable } }: { state: MemberStateStatus }) => {
  if (answered === null || saturated === null || unavailable === null) return <>–</>;
  const text = `${percent(answered)} answered, ${percent(saturated)} saturated, ${percent(unavailable)} unavailable`;
  return (
    <span className="share" title={text}>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect className="ok" width={answered * 100} height="1" />
        <rect className="degraded" x={answered * 100} width={saturated * 100} height="1" />
        <rect className="down" x={(answered + saturated) * 100} width={unavailable * 100} height="1" />
      </svg>
      <span>{percent(answered)}</span>
      <span className="for-reader">{text}</span>
    </span>
  );
};
