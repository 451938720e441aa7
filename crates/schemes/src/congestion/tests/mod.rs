mod choice;
mod cubic;
mod lia;
mod play;
mod reno;
