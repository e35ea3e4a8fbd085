import { useState } from 'react';
import { Card } from '../../parts/card.js';
import { Choice } from '../../parts/choice.js';
import { chooseTheme, readTheme, type Theme } from '../../shell/theme.js';

/** Light, dark, or as the system. */
export const Appearance = () => {
  const [theme, setTheme] = useState<Theme>(readTheme);
  return (
    <Card title="Appearance">
      <div className="narrow">
        <Choice
          label="Colours"
          value={theme}
          options={[
            { value: 'system', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
        />
      </div>
    </Card>
  );
};
