import type { Check } from '../../api/shapes.js';
import { Facts } from '../../parts/facts.js';
import { Moment } from '../../parts/moment.js';
import { Status } from '../../parts/status.js';

/** What a check's time-stamp says, and what it is worth. */
export const TimestampFacts = ({ timestamp }: { timestamp: NonNullable<Check['timestamp']> }) => (
  <>
    <Facts
      facts={{
        Stamped: (
          <>
            <Moment at={timestamp.gen_time} seconds />
            {timestamp.accuracy_ms !== null && ` ± ${timestamp.accuracy_ms} ms`}
          </>
        ),
        Authority: (
          <>
            {timestamp.authority} {timestamp.development && <Status word="development" />}
          </>
        ),
        Serial: <code>{timestamp.serial}</code>,
        Policy: <code>{timestamp.policy}</code>,
      }}
    />
    {timestamp.development && (
      <p className="hint">
        A development authority of this service itself: it proves nothing about time to anybody else.
      </p>
    )}
  </>
);
