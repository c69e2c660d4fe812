import { render } from "preact";
import "./settings/theme";
import "./style/index.css";
import { App } from "./shell/app";

render(<App />, document.getElementById("root")!);
