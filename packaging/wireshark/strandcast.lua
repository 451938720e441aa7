-- Wireshark dissector of REPORT chunks (SCTP chunk type 0xB1): docs/wire-format.md describes them.
--
-- Copy this file to the folder of personal Lua plugins (Help > About > Folders), or:
--     tshark -X lua_script:strandcast.lua -r FILE -d udp.port==9899,sctp

local REPORT = 0xB1
local NO_PATH = 0xFFFF
local FLAG_RELIABLE, FLAG_ECHO = 1, 2
local ARRIVALS, ARRIVED_REQUEST, ARRIVED = 7, 8, 9

local KINDS = {
    [1] = "JOIN", [2] = "LEAVE", [3] = "MOVED", [4] = "SUSPEND", [5] = "RESUME", [6] = "COPIES",
    [ARRIVALS] = "ARRIVALS", [ARRIVED_REQUEST] = "ARRIVED REQUEST", [ARRIVED] = "ARRIVED",
    [0x110] = "ROUND", [0x111] = "RATE", [0x112] = "PATH TO USE", [0x113] = "IDLE PATH", [0x120] = "FRAME ERRORS",
}

local strandcast = Proto("strandcast", "Strandcast REPORT")
local f = {
    kind = ProtoField.uint16("strandcast.kind", "Kind", base.HEX, KINDS),
    reliable = ProtoField.bool("strandcast.reliable", "Reliable"),
    echo = ProtoField.bool("strandcast.echo", "Echo"),
    path = ProtoField.uint16("strandcast.path", "Path"),
    serial = ProtoField.uint32("strandcast.serial", "Serial"),
    payload = ProtoField.bytes("strandcast.payload", "Payload"),
    return_path = ProtoField.uint16("strandcast.return_path", "Return path"),
    range_last = ProtoField.uint32("strandcast.arrivals.last", "Last TSN of range"),
    range_before = ProtoField.uint16("strandcast.arrivals.before", "TSNs of range before the last"),
    clock = ProtoField.uint32("strandcast.arrived.clock", "Receiver's clock (microseconds)"),
    arrived_path = ProtoField.uint16("strandcast.arrived.path", "Arrivals by path"),
    tsn = ProtoField.uint32("strandcast.arrived.tsn", "Highest TSN of the last packet"),
    age = ProtoField.uint32("strandcast.arrived.age", "Age of the last packet (microseconds)"),
    packets = ProtoField.uint32("strandcast.arrived.packets", "Packets"),
    bytes = ProtoField.uint32("strandcast.arrived.bytes", "Bytes"),
}
strandcast.fields = f
local malformed = ProtoExpert.new("strandcast.malformed", "Malformed item", expert.group.MALFORMED, expert.severity.ERROR)
strandcast.experts = { malformed }

local chunk_type = Field.new("sctp.chunk_type")

-- Payloads by kind. Each function returns false if the payload has another length than its kind requires.
local payloads = {
    [ARRIVALS] = function(tree, range)
        for at = 0, range:len() - 6, 6 do
            tree:add(f.range_last, range(at, 4))
            tree:add(f.range_before, range(at + 4, 2))
        end
        return range:len() % 6 == 0
    end,
    [ARRIVED_REQUEST] = function(tree, range)
        for at = 0, range:len() - 2, 2 do
            tree:add(f.return_path, range(at, 2))
        end
        return range:len() % 2 == 0
    end,
    [ARRIVED] = function(tree, range)
        if range:len() % 18 ~= 4 then
            return false
        end
        tree:add(f.clock, range(0, 4))
        for at = 4, range:len() - 18, 18 do
            local path = tree:add(f.arrived_path, range(at, 2))
            path:add(f.tsn, range(at + 2, 4))
            path:add(f.age, range(at + 6, 4))
            path:add(f.packets, range(at + 10, 4))
            path:add(f.bytes, range(at + 14, 4))
        end
        return true
    end,
}

-- Adds the item at the start of `range`. Returns its length with padding; nil: it is malformed.
local function add_item(tree, range)
    if range:len() < 8 then
        return nil
    end
    local kind, len, flags = range(0, 2):uint(), range(2, 2):uint(), range(4, 1):uint()
    local has_serial = flags % 4 ~= 0
    local head = has_serial and 12 or 8
    if len < head or len > range:len() then
        return nil
    end
    local item = tree:add(strandcast, range(0, len), "REPORT item: " .. (KINDS[kind] or string.format("kind 0x%x", kind)))
    item:add(f.kind, range(0, 2))
    item:add(f.reliable, range(4, 1), flags % 2 == FLAG_RELIABLE)
    item:add(f.echo, range(4, 1), flags % 4 >= FLAG_ECHO)
    if range(6, 2):uint() ~= NO_PATH then
        item:add(f.path, range(6, 2))
    end
    if has_serial then
        item:add(f.serial, range(8, 4))
    end
    if len > head and flags % 4 < FLAG_ECHO then
        local payload = range(head, len - head)
        local add = payloads[kind]
        if not add then
            item:add(f.payload, payload)
        elseif not add(item, payload) then
            item:add_proto_expert_info(malformed)
        end
    end
    return math.ceil(len / 4) * 4
end

function strandcast.dissector(_, _, tree)
    for _, field in ipairs({ chunk_type() }) do
        if field.value == REPORT then
            local packet, at = field.source, field.offset
            local stop = at + packet(at + 2, 2):uint()
            at = at + 4
            while at < stop do
                local len = stop <= packet:len() and add_item(tree, packet(at, stop - at))
                if not len then
                    tree:add(strandcast, field.range, "REPORT: malformed"):add_proto_expert_info(malformed)
                    break
                end
                at = at + len
            end
        end
    end
end

register_postdissector(strandcast)
