import { agreementOf } from '@vat/domain/agreement';
import type { Check } from '../../api/shapes.js';
import { Card, Facts, Status } from '../../parts/text.js';
import { PART_NAMES, SOURCE_NAMES } from './names.js';

/** The details of the trader as they were sent. */
export const TraderGiven = ({ trader }: { trader: NonNullable<Check['trader']> }) => (
  <span className="lines">
    {Object.entries(PART_NAMES)
      .flatMap(([part, name]) => {
        const value = trader[part as keyof typeof PART_NAMES];
        return value ? [`${name}: ${value}`] : [];
      })
      .join('\n')}
  </span>
);

type Match = NonNullable<Check['match']>;

const Score = ({ score }: { score: number }) => (
  <>
    <Status word={agreementOf(score)} /> {score} of 100
  </>
);

const Part = ({ part: { score, expected, found, source } }: { part: NonNullable<Match['name']> }) => (
  <>
    <Score score={score} />
    <br />
    You sent “{expected}”. {SOURCE_NAMES[source]} states “{found}”.
  </>
);

const COMPARED = ['name', 'street', 'postal_code', 'city'] as const;

const partText = (check: Check, match: Match, part: (typeof COMPARED)[number]) => {
  if (match[part]) return <Part part={match[part]} />;
  return check.trader?.[part] ? 'No source states it, so it was not compared.' : null;
};

/** Our comparison of the trader with all sources, and that of VIES. */
export const TraderCard = ({ check }: { check: Check }) => {
  const { match, trader_match: byVies } = check;
  if (!match && !byVies) return null;
  return (
    <Card
      title="Trader match"
      hint="The trader details you sent, compared with what VIES and the registers state. From 90 on they agree; look at scores from 70 to 89 yourself. The comparison never changes the verdict."
    >
      {match && (
        <Facts
          facts={{
            Overall: match.score === null ? 'Nothing could be compared.' : <Score score={match.score} />,
            ...Object.fromEntries(COMPARED.map((part) => [PART_NAMES[part], partText(check, match, part)])),
          }}
        />
      )}
      {byVies && (
        <>
          <h3>According to VIES</h3>
          <Facts
            facts={Object.fromEntries(
              Object.entries(PART_NAMES).map(([part, name]) => {
                const word = byVies[part as keyof typeof PART_NAMES];
                return [name, word && <Status word={word} />];
              }),
            )}
          />
        </>
      )}
    </Card>
  );
};
