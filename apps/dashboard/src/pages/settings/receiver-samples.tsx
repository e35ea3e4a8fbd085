import { useMemo } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import guide from '../../../../../docs/webhooks.md?raw';
import { CopyButton } from '../../parts/button.js';
import { Card } from '../../parts/text.js';
import { readSamples } from './read-samples.js';
import { useWebhook } from './webhook-card.js';

/** Complete receivers from docs/webhooks.md, which are tested there. */
export const ReceiverSamples = () => {
  const samples = useMemo(() => readSamples(guide), []);
  const prefix = useWebhook().data?.webhook?.secret_prefix ?? 'whsec_';
  return (
    <Card
      title="Receive events"
      hint="Complete programs that verify the signature of each event. They respond with 204 to valid events and 401 to all others. Run them behind a TLS proxy."
    >
      <Tabs className="tabs">
        <TabList aria-label="Language" className="tab-list">
          {samples.map(({ name }) => (
            <Tab key={name} id={name} className="tab">
              {name}
            </Tab>
          ))}
        </TabList>
        {samples.map(({ name, code }) => (
          <TabPanel key={name} id={name} className="tab-panel">
            <div className="code-head">
              <code>WEBHOOK_SECRET={prefix}…</code>
              <CopyButton text={code} what={`the receiver in ${name}`} />
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
            <section className="scrolls" tabIndex={0} aria-label={`Receiver in ${name}`}>
              <pre className="code">{code}</pre>
            </section>
          </TabPanel>
        ))}
      </Tabs>
    </Card>
  );
};
