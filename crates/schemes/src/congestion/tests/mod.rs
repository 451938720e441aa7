mod choice;
mod cubic;
mod friendliness;
mod lia;
mod play;
mod receiver_rate;
mod reno;
