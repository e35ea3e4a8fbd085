import type { Attempt } from '../../api/shapes.js';
import { duration } from '../../parts/duration.js';

const PHASES = [
  { name: 'dns', label: 'DNS', of: 'dns_ms' },
  { name: 'tcp', label: 'TCP', of: 'tcp_ms' },
  { name: 'tls', label: 'TLS', of: 'tls_ms' },
  { name: 'wait', label: 'first byte', of: 'first_byte_ms' },
] as const;

/** Where the time of an attempt went. */
export const TimingBar = ({ timings }: { timings: Attempt['timings'] }) => {
  const whole = Math.max(1, timings.total_ms);
  let before = 0;
  const parts = PHASES.map(({ name, label, of }) => {
    const ms = timings[of] ?? 0;
    const part = { name, label, ms: timings[of], x: (100 * before) / whole, width: (100 * ms) / whole };
    before += ms;
    return part;
  });
  return (
    <div className="timing">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect className="rest" width="100" height="1" />
        {parts.map(({ name, x, width }) => (
          <rect key={name} className={name} x={x} width={width} height="1" />
        ))}
      </svg>
      <ul className="legend">
        {parts
          .filter(({ ms }) => ms !== null)
          .map(({ name, label, ms }) => (
            <li key={name} className={name}>
              {label} {duration(ms ?? 0)}
            </li>
          ))}
        <li className="rest">all {duration(timings.total_ms)}</li>
      </ul>
    </div>
  );
};
