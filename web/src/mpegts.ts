// The player for browsers without MPEG-TS of their own. The page loads it when it is needed.
export { default } from "mpegts.js";
