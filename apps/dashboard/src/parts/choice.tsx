import { useId } from 'react';

type ChoiceProps<T extends string> = {
  label: string;
  value: T;
  options: readonly { value: T; label: string; disabled?: boolean }[];
  onChange: (value: T) => void;
  /** The label is for assistive technology alone: the place says it to everybody else. */
  hideLabel?: boolean;
  disabled?: boolean;
};

/** One of a few, by the browser's own list, which telephones show as they always do. */
export const Choice = <T extends string>({ label, value, options, onChange, hideLabel, disabled }: ChoiceProps<T>) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'for-reader' : undefined}>
        {label}
      </label>
      <select id={id} value={value} disabled={disabled} onChange={(event) => onChange(event.target.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
};
