// Settings: the key, how the page looks and speaks, and which models answer where one may choose.
import { useId } from "preact/hooks";
import { forgetKey, keyAsked, keyKept } from "../api/client";
import { about } from "../library/buckets";
import { isWord, LANGUAGES, language, speak, t, type Language } from "../words";
import { chooseModel, chooseStyle, models, style } from "./models";
import { theme, wear, type Theme } from "./theme";

export function SettingsView() {
  const id = useId();
  const known = about.value;
  return (
    <div class="page-view settings">
      <h1>{t("settings")}</h1>
      <section class="panel" aria-labelledby={`${id}look`}>
        <h2 id={`${id}look`}>{t("settings.look")}</h2>
        <div class="setting">
          <span id={`${id}theme`}>{t("settings.theme")}</span>
          <div class="segments" role="group" aria-labelledby={`${id}theme`}>
            {(["system", "light", "dark"] as Theme[]).map((one) => (
              <button type="button" aria-pressed={theme.value === one} onClick={() => wear(one)}>
                {t(`theme.${one}`)}
              </button>
            ))}
          </div>
        </div>
        <div class="setting">
          <label for={`${id}language`}>{t("settings.language")}</label>
          <select id={`${id}language`} value={language.value} onChange={(event) => speak(event.currentTarget.value as Language)}>
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <option value={code}>{name}</option>
            ))}
          </select>
        </div>
        <p class="faint">{t("settings.languageNote")}</p>
      </section>
      <section class="panel" aria-labelledby={`${id}keys`}>
        <h2 id={`${id}keys`}>{t("settings.keys")}</h2>
        <p class="faint">{t("settings.keysAre")}</p>
      </section>
      <section class="panel" aria-labelledby={`${id}key`}>
        <h2 id={`${id}key`}>{t("settings.access")}</h2>
        {known && (
          <dl class="facts">
            <dt>{t("settings.name")}</dt>
            <dd>{known.name}</dd>
            <dt>{t("settings.may")}</dt>
            <dd>{known.may_write ? t("settings.mayWrite") : t("settings.mayRead")}</dd>
            {known.labels && (
              <>
                <dt>{t("settings.labels")}</dt>
                <dd>{known.labels.join(", ") || "–"}</dd>
              </>
            )}
          </dl>
        )}
        {known && !known.key_asked && <p class="faint">{t("settings.noKey")}</p>}
        {(keyKept.value || known?.key_asked) && (
          <div class="row">
            <button type="button" class="plain" onClick={() => (keyAsked.value = "")}>
              {t("settings.changeKey")}
            </button>
            {keyKept.value && (
              <button
                type="button"
                class="plain"
                onClick={() => {
                  forgetKey();
                  location.reload();
                }}
              >
                {t("settings.forgetKey")}
              </button>
            )}
          </div>
        )}
      </section>
      <section class="panel" aria-labelledby={`${id}models`}>
        <h2 id={`${id}models`}>{t("settings.models")}</h2>
        {known && !known.models.configured ? (
          <p class="faint">{t("settings.noModels")}</p>
        ) : (
          <>
            <div class="setting">
              <label for={`${id}style`}>{t("settings.style")}</label>
              <textarea id={`${id}style`} rows={2} maxLength={300} value={style.value} placeholder={t("settings.styleExample")} onInput={(event) => chooseStyle(event.currentTarget.value)} />
            </div>
            <p class="faint">{t("settings.modelsNote")}</p>
            <datalist id={`${id}names`}>
              {known?.models.names.map((name) => (
                <option value={name} />
              ))}
            </datalist>
            <div class="model-grid">
              {known?.models.steps
                .filter((step) => step !== "extract")
                .map((step) => (
                  <div class="setting">
                    <label for={`${id}${step}`}>{stepName(step)}</label>
                    <input
                      id={`${id}${step}`}
                      list={`${id}names`}
                      value={models.value[step] ?? ""}
                      placeholder={known.models.chosen[step] ?? known.models.default ?? t("settings.rules")}
                      onChange={(event) => chooseModel(step, event.currentTarget.value)}
                    />
                  </div>
                ))}
            </div>
          </>
        )}
      </section>
      {known && <p class="faint">Citegraph {known.version}</p>}
    </div>
  );
}

const stepName = (step: string): string => {
  const word = `step.${step}`;
  return isWord(word) ? t(word) : step;
};
