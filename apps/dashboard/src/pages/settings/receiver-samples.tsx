import { useMemo } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import guide from '../../../../../docs/webhooks.md?raw';
import { CopyButton } from '../../parts/button.js';
import { Card } from '../../parts/text.js';
import { readSamples } from './read-samples.js';
import { useWebhook } from './webhook-card.js';

/** Whole receivers to copy, as docs/webhooks.md has them and its tests run them. */
export const ReceiverSamples = () => {
  const samples = useMemo(() => readSamples(guide), []);
  const prefix = useWebhook().data?.webhook?.secret_prefix ?? 'whsec_';
  return (
    <Card
      title="Receive it"
      hint="Each of these is a whole program that verifies what it gets and answers 204, or 401 to what is not ours. Put your TLS in front of it."
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
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
            <section className="scrolls" tabIndex={0} aria-label={`A receiver in ${name}`}>
              <pre className="code">{code}</pre>
            </section>
          </TabPanel>
        ))}
      </Tabs>
    </Card>
  );
};
